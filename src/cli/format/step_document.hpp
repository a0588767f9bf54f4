// step_document.hpp: a step that runs, as squeue -s and scontrol show step give it with --json and
// --yaml. The steps of sacct have a form of their own: accounting/step_document.hpp.
#pragma once

#include <string>

#include "base/time.hpp"
#include "cli/format/document.hpp"
#include "model/job.hpp"
#include "model/step.hpp"

namespace switchyard::cli::format {

struct StepContext {
    Instant now{};
    std::string cluster;
};

// One map of a list.
void write_running_step(Document& document, const model::Step& step, const model::Job& job,
                        const StepContext& context);

}  // namespace switchyard::cli::format
