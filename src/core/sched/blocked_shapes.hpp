// blocked_shapes.hpp: the groups of a partition that were tried and did not fit, by shape.
//
// A node that has got room is glanced at for each shape that waits: the little that decides most
// cases stands side by side, by the cores that are needed. A group that missed n nodes is due when
// n that would serve its shape have become free.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/sched/group.hpp"
#include "core/sched/offers.hpp"

namespace switchyard::core::sched {

class BlockedShapes {
  public:
    // `due` counts from now on, and is what is left of it when the group goes.
    void add(Group& group);
    void remove(Group& group);
    bool contains(const Group& group) const;
    std::vector<Group*> take_all();
    std::size_t size() const { return shapes_.size(); }
    // How many nodes one of the group's shape still misses that stands ahead and stays no longer:
    // the group misses as many. None: there is no such.
    std::optional<std::uint64_t> missed_by_like(const Group& group, const QueueKey& key) const;

    // The node may serve the jobs of these shapes.
    void offer(std::vector<Offer>& offers, const NodePool& pool, NodeIndex node,
               PartitionIndex partition, Instant now);
    // The first group, from the key of the offer on or behind it, that the node truly serves.
    Group* first_served(const Offer& offer, bool behind, const NodePool& pool, Instant now) const;

  private:
    struct Row {
        Group* foremost = nullptr;
        QueueKey key;
        std::uint32_t shape_id = 0;
        std::uint32_t gpus = 0;
        std::uint64_t memory = 0;
        bool idle = false;
        bool several = false;        // It needs more than one node.
        bool heeds = true;           // Kept places can be told from what a node has beside them.
        Seconds least_limit{0};      // No group is shorter.
        std::uint64_t freed = 0;     // Nodes that would have served it, since it is here.
        std::uint64_t next_due = 0;  // No group is due before so many.
    };
    struct Shape {
        std::map<QueueKey, Group*> groups;  // By foremost member.
        std::uint32_t least_cpus = 0;       // Which class,
        std::size_t row = 0;                // and where in it.
    };
    const Row& row_of(const Shape& shape) const { return classes_.at(shape.least_cpus)[shape.row]; }
    void set_foremost(const Shape& shape);

    std::unordered_map<std::uint32_t, Shape> shapes_;    // Looked up, never iterated.
    std::map<std::uint32_t, std::vector<Row>> classes_;  // By least cpus.
};

}  // namespace switchyard::core::sched
