// step_columns.hpp: every field of a step that squeue --steps can print.
#pragma once

#include <span>
#include <string_view>

#include "model/step.hpp"
#include "view/job/job_columns.hpp"
#include "view/table/field_table.hpp"

namespace switchyard::view {

struct StepRow {
    const model::Step& step;
    const model::Job& job;
    const ViewContext& view;
};

std::span<const Field<StepRow>> step_fields();

inline constexpr std::string_view kStepFormat = "%.15i %.8j %.9P %.8u %.9M %N";

// "12.0", "126_1.batch"; of a component of a heterogeneous job by its own number.
std::string step_id_text(const model::Step& step, const model::Job& job);
std::string raw_step_id(const model::Step& step);  // "127.batch"
// The batch script and what is around all steps: they live in the whole job, and count as nothing.
bool is_without_share(const model::Step& step);
std::string step_node_list(const model::Step& step);
// In the order of the names, and without a bill: steps have none.
std::string step_tres(const model::Allocation& share);
// Of a step that waits in its job: those of the job.
std::string step_node_list(const model::Step& step, const model::Job& job);
// Of a step that waits, or never began: what it asked for.
struct StepExtent {
    std::uint32_t nodes = 0, tasks = 0, cpus = 0;
};
StepExtent extent_of(const model::Step& step);
std::vector<Column> all_columns(std::span<const Field<StepRow>> fields);

}  // namespace switchyard::view
