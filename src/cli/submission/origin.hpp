// origin.hpp: where a submission comes from: whose it is, and which limits it hands on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/config.hpp"
#include "model/job_spec.hpp"
#include "options/job_request.hpp"

namespace switchyard::cli {

// User, group, host, session and the line that was typed.
// `names`: look up those of user and group too; a controller that is asked directly does that
// itself.
void fill_origin(model::JobSpec& job, const std::vector<std::string>& words, bool names = true);

// --uid and --gid: from here on we are that user, so that the controller sees them.
Status take_identity(const options::JobRequest& request);

// SLURM_UMASK, else the umask of this process.
std::uint32_t umask_to_hand_on();
// By --propagate, else as the site has it.
std::vector<model::ResourceLimit> limits_to_hand_on(const options::JobRequest& request,
                                                    const config::Config& config);

}  // namespace switchyard::cli
