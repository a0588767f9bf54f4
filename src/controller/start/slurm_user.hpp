// slurm_user.hpp: a controller that root starts goes on as SlurmUser, if that is another one. What
// it needs is made its own before; from then on it has no more rights than that user.
#pragma once

#include "base/result.hpp"
#include "config/config.hpp"

namespace switchyard::controller {

// Before anything is opened and any thread runs.
Status become_slurm_user(const config::Config& config);

}  // namespace switchyard::controller
