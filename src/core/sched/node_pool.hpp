// node_pool.hpp: the ledger of what every node has, who holds it and until when.
//
// The pool is the one place where cores, memory and cards are given out and taken back; it keeps
// the free capacity of every partition in an index, and for each node the order in which its
// holders will leave, which is the time profile that backfill looks at. It knows nothing of queues
// and states.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/ids.hpp"
#include "base/packed_set.hpp"
#include "base/time.hpp"
#include "core/sched/backfill_reservations.hpp"
#include "core/sched/cores_ahead.hpp"
#include "core/sched/free_index.hpp"
#include "core/sched/node_entry.hpp"
#include "core/sched/node_kinds.hpp"
#include "core/sched/room.hpp"
#include "core/sched/shape.hpp"
#include "core/sched/windows.hpp"
#include "model/node.hpp"

namespace switchyard::core::sched {

// A holder's part of a node that becomes free.
struct Leaving {
    Instant until{};
    std::uint32_t place = 0;  // In the order of the partition.
    JobId job;
    auto operator<=>(const Leaving&) const = default;
};

class NodePool {
  public:
    // Starts over with these nodes; nobody holds anything.
    void reset(const std::vector<model::Node>& nodes, Selection::Unit unit);
    // The node turned out to be different; its holders are claimed anew.
    void redescribe(NodeIndex node, const model::Node& description);
    void set_partitions(const std::vector<model::Partition>& partitions);

    void set_open(NodeIndex node, bool open, bool usable);
    void claim(NodeIndex node, Holding holding);
    void release(NodeIndex node, JobId job);
    void set_until(NodeIndex node, JobId job, Instant until);

    void reserve(NodeIndex node, Reserved reserved);
    void drop_reservation(NodeIndex node, JobId job);
    // Another plan takes the place of the present one. Returns the nodes where they differ.
    std::vector<NodeIndex> set_reservations(BackfillReservations reservations);
    BackfillReservations no_reservations() const { return {nodes_.size(), orders_.size()}; }
    const BackfillReservations& reservations() const { return reservations_; }

    // Times that belong to reservations; others take the place of the present ones.
    void set_windows(Windows windows);
    Windows no_windows() const { return {nodes_.size(), orders_.size()}; }
    const Windows& windows() const { return windows_; }

    std::size_t size() const { return nodes_.size(); }
    std::size_t partition_count() const { return orders_.size(); }
    const NodeEntry& node(NodeIndex index) const { return nodes_[index]; }
    std::optional<NodeIndex> find(std::string_view name) const;
    const std::vector<NodeIndex>& order(PartitionIndex partition) const {
        return orders_[partition];
    }
    const FreeIndex& index(PartitionIndex partition) const { return indexes_[partition]; }
    // The same of all nodes that are usable, open or not: what a plan begins with.
    const FreeIndex& usable_index(PartitionIndex partition) const {
        return usable_indexes_[partition];
    }
    const PackedSet<Leaving>& leaving(PartitionIndex partition) const {
        return leaving_[partition];
    }
    const CoresAhead& ahead(NodeIndex node) const { return ahead_[node]; }
    bool overlap(PartitionIndex a, PartitionIndex b) const;
    Selection::Unit unit() const { return unit_; }
    std::uint32_t threads_max() const { return threads_max_; }
    // No node of the partition has more than so many.
    std::uint32_t cores_max(PartitionIndex partition) const { return cores_max_[partition]; }
    // How many nodes of each kind a partition has.
    const NodeKinds& kinds() const { return kinds_; }
    // What an open node can give now.
    Capacity capacity_of(NodeIndex node) const;
    // The amounts of a grant in the terms of this node's pools.
    Room room_of(NodeIndex node, const model::NodeGrant& grant) const;

    void check_invariants() const;

  private:
    void describe(NodeEntry& entry, const model::Node& description);
    void recount(NodeEntry& entry) const;
    void publish(NodeIndex node);
    void list(const NodeEntry& entry, const Holding& holding);
    void unlist(const NodeEntry& entry, const Holding& holding);
    void take(NodeEntry& entry, const Holding& holding) const;
    void give_back(NodeEntry& entry, const Holding& holding) const;

    Selection::Unit unit_ = Selection::Unit::Core;
    std::uint32_t threads_max_ = 1;
    std::vector<NodeEntry> nodes_;
    std::vector<CoresAhead> ahead_;
    std::unordered_map<std::string, NodeIndex> by_name_;
    std::vector<std::vector<NodeIndex>> orders_;
    std::vector<std::uint32_t> cores_max_;
    NodeKinds kinds_;
    std::vector<FreeIndex> indexes_, usable_indexes_;
    std::vector<PackedSet<Leaving>> leaving_;
    BackfillReservations reservations_{0, 0};
    Windows windows_{0, 0};
    std::vector<std::vector<bool>> overlaps_;
};

}  // namespace switchyard::core::sched
