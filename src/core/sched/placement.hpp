// placement.hpp: choosing nodes for one job, and the exact cores, bytes and cards on them.
//
// Nodes are tried in the order of the partition (weight, then configuration). A job that names no
// node count gets as few nodes as hold its tasks. Pure: reads the pool, changes nothing.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "core/sched/fit.hpp"
#include "core/sched/node_pool.hpp"
#include "core/sched/outlook.hpp"
#include "model/resources.hpp"

namespace switchyard::core::sched {

// A limit that stands for "unlimited" in plans, as Slurm has it.
inline constexpr Seconds kForever{365 * 86400};

// What is spoken for on nodes; and whether a node is, as a whole.
using Taken = std::map<NodeIndex, std::pair<Room, bool>>;

// From where the free room of a node is judged.
struct View {
    Instant start{};  // When the job would begin,
    Instant end{};    // and be gone.
    QueueKey key{};   // BackfillReservations of jobs ahead of it are respected.
    std::uint32_t uid = 0;
    bool future = false;  // `start` lies ahead: holders that leave by then are gone, and nodes that
                          // are busy or silent now count if they are usable.
    bool empty = false;   // As if the whole (usable) partition were idle.
    bool every_node = false;       // With `empty`: also nodes that are down or drained.
    const Taken* taken = nullptr;  // With `empty`: but for this.
    Outlook* outlook = nullptr;    // With `future`: beside another plan than the pool's.
    WindowOwner owner = kNobody;   // Whose job it would be.
    bool past_windows = false;     // As if nobody had reserved anything.
};

struct Pick {
    NodeIndex node = 0;
    std::uint32_t tasks = 0;
    std::array<std::uint32_t, kGpuKindsMax> gpus{};
};

// The room of a node in the view, kept places taken off; none: not to be used at all. If it turns
// out to have less than so many cores, the rest is not told truly.
std::optional<Room> room_in(const NodePool& pool, NodeIndex node, const View& view,
                            std::uint32_t cores = 0);

// The nodes and tasks, or none if it does not fit in this view; then `found` is how many nodes were
// of use.
std::optional<std::vector<Pick>> place(const NodePool& pool, PartitionIndex partition,
                                       const Demand& demand, const View& view,
                                       std::uint32_t* found = nullptr);

// Cores and cards by number, for picks that were placed in this view. None if the counts fitted but
// the pieces do not (cards half used by shares).
std::optional<model::Allocation> make_allocation(const NodePool& pool, const Demand& demand,
                                                 const std::vector<Pick>& picks,
                                                 const View& view = {});

// What a planned job will take of a node; for reservations.
Room planned_room(const NodePool& pool, const Demand& demand, const Pick& pick);

}  // namespace switchyard::core::sched
