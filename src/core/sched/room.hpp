// room.hpp: amounts of what a node has, and the numbers by which nodes and partitions are known.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace switchyard::core::sched {

using NodeIndex = std::uint32_t;
using PartitionIndex = std::uint32_t;

// Kinds of generic resource on one node; what is configured beyond it is not handed out.
inline constexpr std::size_t kGresPoolsMax = 8;

// Amounts: of what is free on a node, or of what a job holds there.
struct Room {
    std::uint32_t cores = 0;
    std::uint32_t holders = 0;  // Jobs on the node; 0: it is idle.
    std::uint64_t memory = 0;
    std::array<std::uint32_t, kGresPoolsMax> gres{};
    // Even of those that are shared; fewer than all where some belong to a reservation.
    std::uint32_t cores_max = std::numeric_limits<std::uint32_t>::max();
    bool operator==(const Room&) const = default;
};

// Amounts alone; who counts holders does so.
inline void subtract(Room& room, const Room& less) {
    room.cores -= std::min(room.cores, less.cores);
    room.memory -= std::min(room.memory, less.memory);
    for (std::size_t at = 0; at < room.gres.size(); ++at)
        room.gres[at] -= std::min(room.gres[at], less.gres[at]);
}

inline void add(Room& room, const Room& more) {
    room.cores += more.cores;
    room.memory += more.memory;
    for (std::size_t at = 0; at < room.gres.size(); ++at) room.gres[at] += more.gres[at];
}

// What both have: room that is there at two moments.
inline void keep_least(Room& room, const Room& other) {
    room.cores = std::min(room.cores, other.cores);
    room.memory = std::min(room.memory, other.memory);
    room.holders = std::max(room.holders, other.holders);
    for (std::size_t at = 0; at < room.gres.size(); ++at)
        room.gres[at] = std::min(room.gres[at], other.gres[at]);
}

}  // namespace switchyard::core::sched
