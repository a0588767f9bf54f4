// step_document.hpp: steps in JSON and YAML. Slurm has two forms: that of a step that runs (squeue
// -s, scontrol show step) and that of its history (sacct).
#pragma once

#include <string>

#include "base/time.hpp"
#include "model/job.hpp"
#include "model/step.hpp"
#include "view/accounting/sacct_row.hpp"
#include "view/document.hpp"

namespace switchyard::view {

struct StepContext {
    Instant now{};
    std::string cluster;
};

// One map of a list.
void write_running_step(Document& document, const model::Step& step, const model::Job& job,
                        const StepContext& context);
// The keys of a step, into a map that is open; the row is that of the step.
void write_past_step(Document& document, const SacctRow& row);

}  // namespace switchyard::view
