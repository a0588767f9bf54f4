// log_settings.hpp: what the configuration says of the controller's log.
#pragma once

#include "config/config.hpp"
#include "os/log.hpp"

namespace switchyard::controller {

// Level, topics and the scheduler's file; more where -v asked for it.
void apply_log_settings(const config::Config& config, os::Log& log);

}  // namespace switchyard::controller
