// planner.hpp: when and where a job that cannot start now will be able to.
//
// The time profile of a node is the order in which its holders leave, less what is reserved there
// for jobs ahead. For jobs that take the same from each of their nodes the planner keeps, per
// group, the nodes by the moment they become good enough, so that the next job of the group costs
// only the nodes that changed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/sched/placement.hpp"
#include "core/sched/queue.hpp"

namespace switchyard::core::sched {

struct Planned {
    Instant start{};
    std::vector<Pick> picks;
};

// A limit that stands for "unlimited" in plans, as Slurm has it.
inline constexpr Seconds kForever{365 * 86400};

class Planner {
  public:
    Planner(const NodePool& pool, Instant now) : pool_(pool), now_(now) {}

    // None: not within sight (no usable nodes for it). `group` names the cache; 0: none.
    std::optional<Planned> plan(std::uint32_t group, PartitionIndex partition, const Demand& demand,
                                Seconds limit, QueueKey key);
    // Nodes looked at so far; the caller's budget.
    std::uint64_t looked_at() const { return looked_at_; }

  private:
    struct NodeTime {
        Instant at;
        std::uint32_t place;
        NodeIndex node;
        std::uint32_t version;
        friend bool operator>(const NodeTime& a, const NodeTime& b) {
            return a.at != b.at ? a.at > b.at : a.place > b.place;
        }
    };
    using Heap = std::vector<NodeTime>;

    struct Wanted {  // On each node.
        std::uint32_t tasks = 1;
    };
    std::optional<Instant> earliest(NodeIndex node, const Demand& demand, Wanted wanted,
                                    Instant from, Seconds limit, QueueKey key);
    bool good_at(NodeIndex node, const Demand& demand, Wanted wanted, Instant at, Seconds limit,
                 QueueKey key);
    Heap& heap_for(std::uint32_t group, PartitionIndex partition, const Demand& demand,
                   Wanted wanted, Seconds limit, QueueKey key);
    std::optional<Planned> plan_alike(Heap& heap, const Demand& demand, Wanted wanted,
                                      std::uint32_t nodes, Seconds limit, QueueKey key);
    std::optional<Planned> plan_by_search(Heap heap, PartitionIndex partition, const Demand& demand,
                                          Seconds limit, QueueKey key);

    const NodePool& pool_;
    Instant now_;
    std::uint64_t looked_at_ = 0;
    std::map<std::uint32_t, Heap> heaps_;
    Heap scratch_;
};

}  // namespace switchyard::core::sched
