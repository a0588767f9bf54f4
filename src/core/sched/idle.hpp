// idle.hpp: what a partition could hold if nobody held anything.
//
// Asked for every job that arrives and for every group of jobs when nodes come or go, so nodes are
// looked at by kind: the answers cost the same in a partition of ten nodes and of a hundred
// thousand.
#pragma once

#include <cstdint>
#include <optional>

#include "core/sched/fit.hpp"
#include "core/sched/node_pool.hpp"

namespace switchyard::core::sched {

enum class Nodes : std::uint8_t { Usable, All };  // All: also those that are down or drained.

// Whether a placement would be found. (Kinds do not decide which nodes are neighbours or belong to
// a reservation: there every node is looked at.)
bool could_hold(const NodePool& pool, PartitionIndex partition, const Demand& demand, Nodes which,
                WindowOwner owner = kNobody);
// The most of it that any one node could hold, by cards, then by tasks; none: no node is of use.
std::optional<Fit> largest_fit(const NodePool& pool, PartitionIndex partition,
                               const Demand& demand);
// Whether any one node, down or not, is of use to it.
bool any_is_of_use(const NodePool& pool, PartitionIndex partition, const Demand& demand);
// A node nobody has seen yet and that the configuration does not describe may be anything.
bool has_undescribed(const NodePool& pool, PartitionIndex partition);
// What all nodes have of it.
std::uint64_t total_of(const NodePool& pool, PartitionIndex partition, const GresNeed& need);

}  // namespace switchyard::core::sched
