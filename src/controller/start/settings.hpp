// settings.hpp: the slice of the configuration that the core decides by.
#pragma once

#include "base/result.hpp"
#include "config/config.hpp"
#include "core/cluster/settings.hpp"

namespace switchyard::controller {

// An unknown SlurmUser or a malformed SchedulerParameters value is an error with the key's name.
Result<core::Settings> to_settings(const config::Config& config);

}  // namespace switchyard::controller
