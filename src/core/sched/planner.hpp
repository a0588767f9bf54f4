// planner.hpp: when and where a job that cannot start now will be able to.
//
// A partition's profile is the order in which its holders leave and its kept places end. For one
// kind of job the planner walks along it, from now on, and only as far as it must: a node can
// become good enough only at such a moment. Nodes that are good wait in a heap by the moment they
// became so; the next job of the same kind goes on from there, and looks again only at what was
// given away meanwhile. Jobs whose nodes may differ begin where the partition's supply allows it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/sched/bottlenecks.hpp"
#include "core/sched/outlook.hpp"
#include "core/sched/placement.hpp"
#include "core/sched/queue.hpp"
#include "core/sched/supply.hpp"

namespace switchyard::core::sched {

struct Planned {
    Instant start{};
    std::vector<Pick> picks;
    WindowOwner owner = kNobody;  // In which reservation.
};

class Planner {
  public:
    // The plan in the making is `reserved`; it and the pool must outlive the planner. Kept places
    // may be added while the planner lives; after any other change of the pool call look_again().
    // Only starts in sight are considered.
    struct Sight {
        Instant from{};
        Instant horizon = Instant::max();
    };
    Planner(const NodePool& pool, const BackfillReservations& reserved, Instant now)
        : Planner(pool, reserved, now, Sight{}) {}
    Planner(const NodePool& pool, const BackfillReservations& reserved, Instant now, Sight sight)
        : pool_(pool),
          reserved_(reserved),
          now_(now),
          from_(std::max(now, sight.from)),
          horizon_(sight.horizon),
          outlook_(pool, reserved, now_, from_),
          bottlenecks_(reserved) {}

    // None: not within sight (no usable nodes for it, or too late). `group` names what is
    // remembered; 0: nothing.
    std::optional<Planned> plan(std::uint32_t group, PartitionIndex partition, const Demand& demand,
                                Seconds limit, QueueKey key);
    // Jobs came and went in the pool since the last plan().
    void look_again() {
        ++epoch_;
        bottlenecks_.forget();
    }
    // What is free beside the plan so far.
    Outlook& outlook() { return outlook_; }
    // Moments and nodes looked at so far; the caller's budget.
    std::uint64_t looked_at() const { return looked_at_; }

  private:
    struct NodeTime {
        Instant at;
        std::uint32_t place;
        NodeIndex node;
        std::uint64_t version;
        friend bool operator>(const NodeTime& a, const NodeTime& b) {
            return a.at != b.at ? a.at > b.at : a.place > b.place;
        }
    };
    // A walk along the profile of a partition.
    struct Walk {
        PartitionIndex partition = 0;
        std::uint32_t free_place = 0;  // Next of the nodes that have room now; kNone: all seen.
        std::optional<Leaving> left;   // The last that was passed,
        std::optional<std::pair<Instant, std::uint32_t>> ended;  // of each kind.
        PackedSet<Leaving>::const_iterator leaving;
        BackfillReservations::Ends::const_iterator ends;
        std::optional<std::pair<Instant, std::uint32_t>> window;  // The last moment of a window.
        std::uint32_t epoch = 0;    // Of the iterators; 0: not set yet.
        std::uint64_t changes = 0;  // Of the plan, when `ends` was set.
    };
    struct Moment {
        Instant at;
        std::uint32_t place;
        enum class From : std::uint8_t { Free, Leaving, End, Window } from;
        Instant counts;  // When it is expected; later than `at` if somebody is overdue.
    };
    struct Front {  // The nodes of a partition that became good for one kind of job so far.
        Walk walk;
        std::vector<NodeTime> heap;
        std::vector<bool> seen;   // By place: it is in the heap, or was.
        std::vector<bool> tried;  // By place: it was looked at once, in vain.
    };
    // One job's question.
    struct Ask {
        const Demand& demand;
        std::uint32_t cores;  // No node will do with fewer.
        std::uint32_t tasks;  // Wanted on each node,
        bool all_gpus;        // and all cards of the job on one.
        Seconds limit;
        QueueKey key;
        WindowOwner owner;
    };

    std::uint64_t version(NodeIndex node) const;
    std::optional<Moment> peek(Front& front, const Ask& ask);
    void pass_in_vain(Front& front, const Ask& ask);
    void pass(Walk& walk, const Moment& moment);
    Fit fit_at(NodeIndex node, const Ask& ask, Instant at);
    bool good_at(NodeIndex node, const Ask& ask, Instant at);
    std::optional<Instant> earliest(NodeIndex node, const Ask& ask, Instant from);
    std::optional<Instant> earliest_in_windows(NodeIndex node, const Ask& ask, Instant from,
                                               const NodeLine& line);
    Instant good_until(const NodeTime& entry, const Ask& ask) const;
    void put_back(Front& front, NodeTime entry);
    std::optional<NodeTime> next(Front& front, const Ask& ask);
    std::optional<Planned> plan_alike(Front& front, const Ask& ask, std::uint32_t nodes);
    struct KnownSupply {
        Supply supply;
        QueueKey key;
        std::uint64_t drops;
        std::size_t added;
        std::uint32_t epoch;
    };
    const Supply& supply(PartitionIndex partition, const QueueKey& key);
    std::optional<Instant> required_are_good(const Ask& ask);
    std::optional<Instant> next_moment(PartitionIndex partition, const Supply& all,
                                       Instant behind) const;
    std::optional<Planned> plan_by_search(std::uint32_t group, PartitionIndex partition,
                                          const Ask& ask);
    std::optional<Planned> search(PartitionIndex partition, const Ask& ask, const Supply& all,
                                  const Supply::Amounts& need, Instant from);
    std::optional<Planned> plan_for(WindowOwner owner, std::uint32_t group,
                                    PartitionIndex partition, const Demand& demand, Seconds limit,
                                    QueueKey key);

    const NodePool& pool_;
    const BackfillReservations& reserved_;
    Instant now_, from_, horizon_;
    std::uint32_t epoch_ = 1;
    std::uint64_t looked_at_ = 0;
    Outlook outlook_;
    Bottlenecks bottlenecks_;
    using GroupOf = std::pair<std::uint32_t, WindowOwner>;  // As whose job it is tried.
    std::map<GroupOf, Front> fronts_;
    std::map<PartitionIndex, KnownSupply> supplies_;
    // With the epoch of it: the start of the last of the group that was searched for, if it has
    // one; no job of the group behind it can begin earlier.
    std::map<GroupOf, std::pair<std::uint32_t, std::optional<Instant>>> searched_;
};

}  // namespace switchyard::core::sched
