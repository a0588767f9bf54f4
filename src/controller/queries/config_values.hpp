// config_values.hpp: what `scontrol show config` lists: the keys that mean something here, as Slurm
// writes them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "os/log.hpp"

namespace switchyard::controller {

std::vector<std::pair<std::string, std::string>> config_values(const config::Config& config,
                                                               const os::Log& log, Instant booted,
                                                               JobId next_job,
                                                               std::uint32_t slurm_user);

}  // namespace switchyard::controller
