// room.hpp: amounts of what a node has, and the numbers by which nodes and partitions are known.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

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
};

}  // namespace switchyard::core::sched
