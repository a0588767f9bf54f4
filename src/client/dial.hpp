// dial.hpp: finds the controller, or an agent of this host that relays to it.
#pragma once

#include <string>

#include "base/result.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "wire/blocking.hpp"

namespace switchyard::client {

// Where a controller can be reached from this host; kept, so that a lost connection can be made
// again.
struct Whereabouts {
    std::string controller_socket;
    std::string run_dir;
    std::string controller_pid_file;
};
Whereabouts whereabouts(const config::Config& config);

// One attempt everywhere. If nobody answers but there are signs of a controller (its socket file,
// its pid file), it may be just restarting: then tries again for up to `patience`.
// Errc::Unreachable in the end.
Result<wire::FrameSocket> dial(const Whereabouts& where, Millis patience);

}  // namespace switchyard::client
