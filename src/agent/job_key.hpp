// job_key.hpp: one run of a job.
#pragma once

#include <utility>

#include "base/ids.hpp"

namespace switchyard::agent {

using JobKey = std::pair<JobId, Attempt>;

}  // namespace switchyard::agent
