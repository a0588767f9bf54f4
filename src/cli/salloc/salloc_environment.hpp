// salloc_environment.hpp: what the command of salloc finds in its environment.
#pragma once

#include <string>
#include <vector>

#include "cli/submission/allocation.hpp"
#include "options/export.hpp"
#include "options/job_request.hpp"

namespace switchyard::cli {

options::Environment salloc_environment(const std::vector<options::JobRequest>& requests,
                                        const Allocated& allocated,
                                        const options::Surroundings& surroundings,
                                        const std::string& cluster, const std::string& config_path);

}  // namespace switchyard::cli
