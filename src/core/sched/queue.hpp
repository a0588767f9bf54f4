// queue.hpp: the jobs that could start if there were room, grouped by identical needs.
//
// A group that did not fit is blocked: neither it nor a newcomer to it is looked at again until a
// node it could use has got room. So a submission into a full cluster costs two insertions, and a
// completion wakes only the groups that the freed node can serve.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "core/sched/fit.hpp"
#include "core/sched/order.hpp"
#include "model/job_state.hpp"

namespace switchyard::core::sched {

struct Group {
    std::uint32_t id = 0;
    PartitionIndex partition = 0;
    Demand demand;
    std::optional<Seconds> limit;  // None: unlimited.
    std::set<QueueKey> members;
    bool blocked = false;
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
    // From all its partitions. Returns those where it stood first.
    std::vector<PartitionIndex> remove(JobId job);
    bool contains(JobId job) const { return places_.contains(job.value); }

    // The group with the foremost job of all that are not blocked.
    Group* foremost();
    void block(Group& group);
    void set_hopeless(Group& group, bool hopeless);
    // A node of these partitions has `cpus` free.
    void wake(const std::vector<std::pair<PartitionIndex, std::uint32_t>>& partitions,
              std::uint32_t cpus);
    void wake_all();

    // The foremost job of a partition that has hope.
    std::optional<QueueKey> front(PartitionIndex partition) const;
    Group* group_of(JobId job, PartitionIndex partition);
    // All jobs with hope, foremost first, over all partitions.
    const std::set<std::pair<QueueKey, PartitionIndex>>& everyone() const { return everyone_; }
    std::size_t size() const { return places_.size(); }
    std::size_t group_count() const { return groups_.size(); }
    std::size_t partition_count() const { return fronts_.size(); }

    void check_invariants() const;

  private:
    struct GroupKey {
        PartitionIndex partition;
        std::optional<Seconds> limit;
        Shape shape;
        auto operator<=>(const GroupKey&) const = default;
    };
    struct Place {
        QueueKey key;
        Group* group;
    };
    void unready(const Group& group);
    void ready(Group& group);
    void unblock(Group& group);

    std::map<GroupKey, std::unique_ptr<Group>> groups_;
    std::unordered_map<std::uint32_t, std::vector<Place>> places_;  // Looked up, never iterated.
    std::map<QueueKey, std::vector<Group*>> ready_;                 // By foremost member.
    std::vector<std::set<QueueKey>> fronts_;  // By partition, those with hope.
    std::set<std::pair<QueueKey, PartitionIndex>> everyone_;
    std::vector<std::map<std::pair<std::uint32_t, std::uint32_t>, Group*>>
        blocked_;  // By (cpus_min, id).
    std::uint32_t next_group_ = 1;
};

}  // namespace switchyard::core::sched
