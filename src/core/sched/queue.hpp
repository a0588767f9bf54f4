// queue.hpp: the jobs that could start if there were room, grouped by identical needs.
//
// A group that needs more cores than any node of its partition has free is not looked at. One that
// was tried and did not fit is blocked, with the number of nodes it still missed: neither it nor a
// newcomer to it is looked at again until that many nodes that would serve it have got room. A node
// that has got room is an offer, made to the blocked groups in their order until it is taken up. So
// a submission into a full cluster costs two insertions, and a completion a glance at each shape
// that waits and a try of those few that the node serves.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/packed_set.hpp"
#include "base/time.hpp"
#include "core/sched/fit.hpp"
#include "core/sched/order.hpp"
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
    std::uint64_t due = 0;           // While it is blocked: see Queue::Shapes.
    bool hopeless = false;           // No set of usable nodes, even idle ones, could hold it.
    std::uint32_t hope_checked = 0;  // When that was found out (the owner's count).
    model::Reason why = model::Reason::None;  // What its members are told while it is so.
    std::string why_detail;
};

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
    // One shape in a partition that a node has room for.
    struct Offer {
        QueueKey key;  // The foremost job that may take it up,
        std::uint32_t group;
        NodeIndex node;
        PartitionIndex partition;
        std::uint32_t cpus_min, shape_id;
        friend bool operator>(const Offer& a, const Offer& b) { return b.key < a.key; }
    };
    bool has_offers() const { return !offers_.empty(); }
    // To every shape that the nodes woken since the last time may serve.
    std::vector<Offer> take_offers(const NodePool& pool, Instant now);
    // The same offer to the next in its shape, behind `after` (none: from the first); none: nobody
    // is served by it any more.
    std::optional<Offer> renew(const Offer& offer, const std::optional<QueueKey>& after,
                               const NodePool& pool, Instant now);
    // Counts everything that may let a blocked group start.
    std::uint64_t wakes() const { return wakes_; }
    Group* find(std::uint32_t id) const;
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
    struct BlockedShape {
        std::map<QueueKey, Group*> groups;  // By foremost member.
        std::uint64_t freed = 0;            // Nodes that would have served it, since it is here.
        std::uint64_t next_due = 0;         // No group is due before so many.
        Seconds least_limit{0};             // No group is shorter.
    };
    // By least cpus and shape. A group that missed n nodes is due when `freed` has grown by n.
    using Shapes = std::map<std::pair<std::uint32_t, std::uint32_t>, BlockedShape>;
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
    void unblock(Group& group);
    bool serves(const NodePool& pool, NodeIndex node, const Group& group, Instant now) const;
    void offer(std::vector<Offer>& offers, const NodePool& pool, NodeIndex node,
               PartitionIndex partition, Instant now);

    Groups groups_;
    std::unordered_map<std::uint32_t, Group*> by_id_;  // Looked up, never iterated.
    std::vector<std::uint32_t> new_groups_;            // By id.
    Places places_;
    std::size_t jobs_ = 0;
    std::vector<Ready> ready_;                 // By partition, least cpus, and foremost member.
    std::vector<PackedSet<QueueKey>> fronts_;  // By partition, those with hope.
    std::vector<Shapes> blocked_;              // By partition.
    std::set<NodeIndex> offers_;
    std::uint32_t next_group_ = 1, next_shape_ = 1;
    std::uint64_t wakes_ = 0, line_ = 0;
};

}  // namespace switchyard::core::sched
