// salloc_environment.hpp: what the command of salloc finds in its environment.
#pragma once

#include <string>

#include "model/job.hpp"
#include "options/export.hpp"
#include "options/job_request.hpp"

namespace switchyard::cli::submit {

options::Environment salloc_environment(const options::JobRequest& request, const model::Job& job,
                                        const options::Surroundings& surroundings,
                                        const std::string& cluster, const std::string& config_path);

}  // namespace switchyard::cli::submit
