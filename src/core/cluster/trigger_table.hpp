// trigger_table.hpp: the triggers that are set, and what happened to them in the present step.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/time.hpp"
#include "model/trigger.hpp"

namespace switchyard::core {

// A node as the triggers last saw it.
struct NodeGlance {
    bool down = false, drained = false, draining = false;
    std::optional<Instant> idle_since;
};

struct TriggerTable {
    std::map<std::uint32_t, model::Trigger> all;
    std::uint32_t last_id = 0;
    // What happened in this step of the core: nodes by trigger, so that many nodes that go down at
    // once are one run of the program.
    std::map<std::uint32_t, std::set<std::string>> happened;
    // Idle nodes that a permanent trigger was already run for, until they have worked again.
    std::map<std::uint32_t, std::set<std::string>> idle_told;

    void add(model::Trigger trigger) {
        if (trigger.id > last_id) last_id = trigger.id;
        const std::uint32_t id = trigger.id;
        all.insert_or_assign(id, std::move(trigger));
    }
    void remove(std::uint32_t id) {
        all.erase(id);
        happened.erase(id);
        idle_told.erase(id);
    }
};

}  // namespace switchyard::core
