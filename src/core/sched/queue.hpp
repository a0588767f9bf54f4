// queue.hpp: the jobs that could start if there were room, grouped by identical needs.
//
// A group that needs more cores than any node of its partition has free is not looked at. One that
// was tried and did not fit is blocked, with the number of nodes it still missed: neither it nor a
// newcomer to it is looked at again until that many nodes that would serve it have got room. A node
// that has got room is an offer, made to the blocked groups in their order until it is taken up. A
// newcomer of a shape that waits is blocked with those who need no more. So a submission into a
// full cluster costs two insertions, and a completion a glance at each shape that waits and a try
// of those few that the node serves.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "base/packed_set.hpp"
#include "base/time.hpp"
#include "core/sched/blocked_shapes.hpp"
#include "core/sched/group.hpp"
#include "core/sched/offers.hpp"
#include "core/sched/order.hpp"

namespace switchyard::core::sched {

class Queue {
  public:
    void clear();
    void set_partition_count(std::size_t count);

    // A job stands once in each partition it may run in.
    void add(QueueKey key, PartitionIndex partition, const Shape& shape,
             std::optional<Seconds> limit, const NodePool& pool);
    // From all its partitions.
    void remove(JobId job);
    bool contains(JobId job) const { return first_place(job) != places_.end(); }

    // The group with the foremost job of all that are not blocked and not too large for every node.
    Group* foremost(const NodePool& pool);
    // With nobody passing anybody: the group of the foremost job that is first in every partition
    // whose nodes it could take.
    Group* foremost_in_line(const NodePool& pool);
    // It was tried, and so many nodes more might have been enough.
    void block(Group& group, std::uint32_t missing);
    void set_hopeless(Group& group, bool hopeless);

    // The node may have got room.
    void wake(NodeIndex node) { offers_.insert(node); }
    void wake_all();
    // With nobody passing anybody: whoever is first in line, or comes to be, may try again.
    void wake_line();
    bool has_offers() const { return !offers_.empty(); }
    // To every shape that the nodes woken since the last time may serve.
    std::vector<Offer> take_offers(const NodePool& pool, Instant now);
    // The first group, from the key of the offer on or behind it, that the node truly serves.
    Group* first_served(const Offer& offer, bool behind, const NodePool& pool, Instant now) const {
        return blocked_[offer.partition].first_served(offer, behind, pool, now);
    }
    // Counts everything that may let a blocked group start.
    std::uint64_t wakes() const { return wakes_; }
    // Groups that came since this was last asked; some may be gone again.
    std::vector<Group*> take_new_groups();
    std::vector<Group*> groups() const;  // All, in the order they came.

    // The foremost job of a partition that has hope.
    std::optional<QueueKey> front(PartitionIndex partition) const;
    Group* group_of(JobId job, PartitionIndex partition);
    // The next job with hope behind `after` (none: the first), over all partitions. A job that
    // stands in several comes several times.
    using Stand = std::pair<QueueKey, PartitionIndex>;
    std::optional<Stand> next_behind(const std::optional<Stand>& after) const;
    std::size_t size() const { return jobs_; }
    std::size_t group_count() const { return groups_.size(); }
    std::size_t blocked_shapes() const;
    std::size_t partition_count() const { return fronts_.size(); }

    void check_invariants() const;

  private:
    struct GroupKey {
        PartitionIndex partition;
        Shape shape;
        std::optional<Seconds> limit;
        auto operator<=>(const GroupKey&) const = default;
    };
    struct Place {
        QueueKey key;
        std::uint32_t number = 0;  // Of the job's places: in the order in which they were added.
        Group* group = nullptr;
        friend bool operator<(const Place& a, const Place& b) {
            return a.key.job != b.key.job ? a.key.job < b.key.job : a.number < b.number;
        }
    };
    using Places = PackedSet<Place>;
    using Groups = std::map<GroupKey, std::unique_ptr<Group>>;
    using Ready = std::map<std::uint32_t, std::map<QueueKey, Group*>>;

    Places::const_iterator first_place(JobId job) const;
    std::vector<Place> places_of(JobId job) const;
    Group& make_group(Groups::iterator at, const NodePool& pool);
    bool stands_first(JobId job, const Group& group, const Group& other) const;
    void list(Group& group);
    void unlist(Group& group);

    Groups groups_;
    std::unordered_map<std::uint32_t, Group*> by_id_;  // Looked up, never iterated.
    std::vector<std::uint32_t> new_groups_;            // By id.
    Places places_;
    std::size_t jobs_ = 0;
    std::vector<Ready> ready_;                 // By partition, least cpus, and foremost member.
    std::vector<PackedSet<QueueKey>> fronts_;  // By partition, those with hope.
    std::vector<BlockedShapes> blocked_;       // By partition.
    std::set<NodeIndex> offers_;
    std::uint32_t next_group_ = 1, next_shape_ = 1;
    std::uint64_t wakes_ = 0, line_ = 0;
};

}  // namespace switchyard::core::sched
