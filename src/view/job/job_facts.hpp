// job_facts.hpp: what can be said of a job that is not a field of its record: sizes that were never
// asked for, times that are only expected. squeue and scontrol show job agree because both ask
// here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/job.hpp"
#include "view/table/cell_text.hpp"

namespace switchyard::view {

// Nodes it holds (while completing: still holds), or at least needs.
std::uint32_t node_count(const model::Job& job);
std::uint32_t task_count(const model::Job& job);
std::uint32_t cpu_count(const model::Job& job);
std::uint32_t cpus_per_node_min(const model::Job& job);
std::string node_list(const model::Job& job);
std::string batch_host(const model::Job& job);  // Empty when there is none.
// The node whose failure ended the job, where it had but one; of several it is not written down
// which.
std::string failed_node(const model::Job& job);

// One name, or all it waits for.
// "27-28": the ids of all components of a heterogeneous job.
std::string component_ids(const model::HetPlace& place);
std::string partition_text(const model::Job& job);
std::string_view partition_text(const model::Job& job, CellBuffer& room);
// The word, and what the controller adds to it.
std::string reason_text(const model::Job& job);
std::string_view reason_text(const model::Job& job, CellBuffer& room);
// Whether %R shows the reason and not the nodes.
bool shows_reason(const model::Job& job);

// 0 for one that is suspended, as Slurm has it.
std::uint32_t shown_priority(const model::Job& job);

// Time it ran so far. A run that ends only to be queued again counts for nothing.
Seconds time_used(const model::Job& job, Instant now);

// Actual or expected; none where nobody knows.
std::optional<Instant> shown_start(const model::Job& job);
std::optional<Instant> shown_end(const model::Job& job);
std::optional<Instant> eligible_time(const model::Job& job);
// A job is looked at when it is submitted, and by every pass that reaches it.
std::optional<Instant> last_evaluated(const model::Job& job);
std::optional<Instant> accrue_time(const model::Job& job);
// The limit without which it was submitted is that of its partition: the controller fills it in.
std::optional<model::TimeLimit> time_limit(const model::Job& job);

// "cpu=1,mem=100M,node=1,billing=1"
std::string requested_tres(const model::Job& job);
std::string allocated_tres(const model::Job& job);  // Empty when it holds and held nothing.
std::string tres_per_node(const model::Job& job);   // "gres/gpu:1"; empty for none.
// The reservation it runs in, or those it waits for.
std::string reservation_of(const model::Job& job);
std::string licenses_held(const model::Job& job);  // "fluent:2"; held once it is over.

// "NO", "NODE", "USER"
std::string_view exclusive_text(model::Exclusive exclusive);
std::string_view over_subscribe_text(const model::JobSpec& spec);

// The paths of a batch job's files, patterns expanded, below its working directory.
struct BatchFiles {
    std::string in, out, err;  // err is empty when it is the same as out.
};
BatchFiles batch_files(const model::Job& job);
// The same as they were given: a name that was not given is the plain default.
BatchFiles batch_file_patterns(const model::Job& job);

}  // namespace switchyard::view
