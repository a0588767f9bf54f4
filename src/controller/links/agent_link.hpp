// agent_link.hpp: one connection of an agent; shared by agents.cpp and relay.cpp only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "controller/links/agents.hpp"

namespace switchyard::controller {

struct Agents::Link {
    std::uint64_t id = 0;
    bool local = false;
    bool opened = false;  // Connected; over TLS it has proved the key.
    bool registered = false;
    std::string node;         // After it registered.
    bool relay_only = false;  // A login node: it only carries commands.
    std::unique_ptr<wire::Channel> channel;
    std::optional<Outlet> outlet;
    std::map<std::uint64_t, SessionId> relayed;  // By the agent's own number for the command.

    std::string name() const { return registered ? node : std::string("an agent"); }
};

}  // namespace switchyard::controller
