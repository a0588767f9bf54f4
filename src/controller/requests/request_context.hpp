// request_context.hpp: what the handlers of requests may use. They see the cluster as it is, give
// the core events and answer; nothing else of the controller is theirs.
#pragma once

#include <functional>

#include "config/config.hpp"
#include "controller/links/agents.hpp"
#include "controller/links/calls.hpp"
#include "controller/names/names.hpp"
#include "controller/turn/figures.hpp"
#include "core/cluster/cluster.hpp"
#include "os/log.hpp"

namespace switchyard::controller {

// Those that ask the core for something.
struct RequestContext {
    Calls& calls;
    const core::Cluster& cluster;
    const config::Config& config;
    const Names& names;
    Agents& agents;
    os::Log& log;
    std::function<void(core::Event)> step;
    Bulk arriving = {};  // Of the submission that is being handled.
};

// Those about the daemons themselves.
struct AdminContext {
    Calls& calls;
    const core::Cluster& cluster;
    const config::Config& config;
    const Names& names;
    Agents& agents;
    Sessions& sessions;
    os::Log& log;
    Figures& figures;
    const std::string& cluster_key;
    std::uint32_t slurm_user;
    std::function<Instant()> now;
    std::function<Status(core::Token)> reconfigure;  // The core answers the token.
    std::function<void()> stop, abort;
};

}  // namespace switchyard::controller
