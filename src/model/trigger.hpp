// trigger.hpp: what strigger sets: a program that is run when something happens to a job or to
// nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"

namespace switchyard::model {

// Wire numbers: append only.
enum class TriggerResource : std::uint8_t { Job = 0, Node = 1, Controller = 2 };
enum class TriggerType : std::uint8_t {
    Up = 0,
    Down = 1,
    Drained = 2,
    Draining = 3,
    Fail = 4,
    Resume = 5,
    Idle = 6,
    Reconfig = 7,
    Time = 8,
    Fini = 9,
    ControllerResumed = 10,
};
inline constexpr TriggerType kTriggerTypeLast = TriggerType::ControllerResumed;

// A trigger happened; its program is run then.
struct TriggerFired {
    Instant due{};
    std::string argument;
    bool operator==(const TriggerFired&) const = default;
};

struct Trigger {
    std::uint32_t id = 0;
    TriggerResource resource = TriggerResource::Node;
    TriggerType type = TriggerType::Down;
    JobId job;                       // Of a job, or of the nodes that this job has.
    std::vector<std::string> nodes;  // Of these nodes; none: of any.
    Seconds offset{0};               // After the event; below 0: before it.
    std::uint32_t uid = 0, gid = 0;
    std::string user;
    std::string program;     // A path, and arguments before the one that names what happened.
    bool permanent = false;  // It stays when it has been run.
    std::optional<TriggerFired> fired;
    bool operator==(const Trigger&) const = default;
};

std::string_view to_string(TriggerResource resource);  // "job", "node", "slurmctld"
std::string_view to_string(TriggerType type);          // "down", "fini", ...
// What it is about, as it is shown: "12", "n[1-3]", "*".
std::string resource_id(const Trigger& trigger);

}  // namespace switchyard::model
