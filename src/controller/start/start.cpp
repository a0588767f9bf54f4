#include "controller/start/start.hpp"

#include <chrono>

namespace switchyard::controller {

Result<std::unique_ptr<Controller>> start_controller(io::Loop& loop, os::Log& log,
                                                     config::Config config,
                                                     const StartOptions& options) {
    SY_TRY(Opened opened, open_state(std::move(config), options, log));
    const Instant now = std::chrono::floor<Millis>(std::chrono::system_clock::now());
    SY_TRY(Recovered recovered, recover(opened, now, log));
    auto controller =
        std::make_unique<Controller>(loop, log, std::move(opened), std::move(recovered));
    SY_CHECK(controller->serve());
    return controller;
}

}  // namespace switchyard::controller
