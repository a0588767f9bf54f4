// job_text.hpp: scontrol show job and show step.
#pragma once

#include <string>

#include "model/job.hpp"
#include "model/step.hpp"
#include "view/record.hpp"

namespace switchyard::view {

std::string job_record(const model::Job& job, const RecordStyle& style);
std::string step_record(const model::Step& step, const model::Job& job, const RecordStyle& style);

}  // namespace switchyard::view
