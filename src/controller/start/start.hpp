// start.hpp: a controller in three steps: opened, recovered, serving.
#pragma once

#include <memory>

#include "controller/turn/controller.hpp"

namespace switchyard::controller {

Result<std::unique_ptr<Controller>> start_controller(io::Loop& loop, os::Log& log,
                                                     config::Config config,
                                                     const StartOptions& options);

}  // namespace switchyard::controller
