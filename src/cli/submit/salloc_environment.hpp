// salloc_environment.hpp: what the command of salloc finds in its environment.
#pragma once

#include <string>
#include <vector>

#include "cli/submit/allocation.hpp"
#include "model/job.hpp"
#include "options/export.hpp"
#include "options/job_request.hpp"

namespace switchyard::cli::submit {

options::Environment salloc_environment(const options::JobRequest& request, const model::Job& job,
                                        const options::Surroundings& surroundings,
                                        const std::string& cluster, const std::string& config_path);

// SLURM_HET_SIZE, and the variables of each component of a heterogeneous job.
void describe_components(const std::vector<options::JobRequest>& requests,
                         const Allocated& allocated, options::Environment& environment);

}  // namespace switchyard::cli::submit
