// settings.hpp: the slice of the configuration that the core decides by.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "config/config.hpp"
#include "core/cluster/settings.hpp"

namespace switchyard::controller {

// The uid of SlurmUser; an error if this host does not know it. Asks the name service: before
// anybody is served.
Result<std::uint32_t> find_slurm_user(const config::Config& config);

// A malformed SchedulerParameters value is an error with the key's name.
Result<core::Settings> to_settings(const config::Config& config, std::uint32_t slurm_user);

}  // namespace switchyard::controller
