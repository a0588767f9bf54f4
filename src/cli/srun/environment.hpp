// environment.hpp: the variables that srun itself hands to its tasks; the nodes add what they
// know of job, step and place.
#pragma once

#include "options/export.hpp"
#include "options/job_request.hpp"

namespace switchyard::cli {

options::Environment task_environment(const options::JobRequest& request,
                                      const options::Surroundings& surroundings);

}  // namespace switchyard::cli
