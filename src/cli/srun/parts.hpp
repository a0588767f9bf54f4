// parts.hpp: what srun is to run: one command, or one for each component of a heterogeneous
// job.
#pragma once

#include <string>
#include <vector>

#include "cli/srun/launch.hpp"
#include "options/job_request.hpp"

namespace switchyard::cli {

// Components of the command line ("a : b"), each in the groups it names (--het-group) or in the one
// of its place. At least one part where there is no fault.
options::Outcome understand_parts(const std::vector<std::string>& words,
                                  const options::Surroundings& surroundings,
                                  std::vector<Launchable>& parts);

}  // namespace switchyard::cli
