// group.hpp: jobs that wait and have identical needs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "base/packed_set.hpp"
#include "base/time.hpp"
#include "core/sched/fit.hpp"
#include "core/sched/order.hpp"
#include "core/sched/placement.hpp"
#include "model/job_state.hpp"

namespace switchyard::core::sched {

struct Group {
    std::uint32_t id = 0;
    std::uint32_t shape_id = 0;  // Equal for groups that differ in their time limit alone.
    PartitionIndex partition = 0;
    Demand demand;
    std::optional<Seconds> limit;  // None: unlimited.
    PackedSet<QueueKey> members;
    bool blocked = false;
    std::uint64_t line = 0;          // How often the line had moved when it was blocked.
    std::uint64_t due = 0;           // While it is blocked: see BlockedShapes.
    bool hopeless = false;           // No set of usable nodes, even idle ones, could hold it.
    std::uint32_t hope_checked = 0;  // When that was found out (the owner's count).
    model::Reason why = model::Reason::None;  // What its members are told while it is so.
    std::string why_detail;
};

// The class by which groups are skipped while no node has enough; those that share cores may find
// some on a node that has none free.
inline std::uint32_t class_of(const Group& group) {
    return group.demand.shape.share > 1 ? 0 : group.demand.cpus_min;
}

// How long a job of the group may stay.
inline Seconds limit_of(const Group& group) { return group.limit.value_or(kForever); }

// How long a job of the group stays at least: one with --time-min is content with less.
inline Seconds least_stay(const Group& group) {
    const Seconds limit = limit_of(group);
    const Seconds least{group.demand.shape.seconds_min};
    return least > Seconds{0} ? std::min(least, limit) : limit;
}

}  // namespace switchyard::core::sched
