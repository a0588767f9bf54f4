// planning.hpp: who starts when: the queue, and the owners that decide about those in it.
//
// Each of them knows for itself what of its own is out of date. The rest of the cluster says here
// what has happened, and nothing else.
#pragma once

#include <optional>

#include "core/cluster/cluster.hpp"
#include "core/cluster/holdings.hpp"
#include "core/cluster/planning/backfill.hpp"
#include "core/cluster/planning/feasibility.hpp"
#include "core/cluster/planning/het_places.hpp"
#include "core/cluster/planning/lending.hpp"
#include "core/cluster/planning/preemption.hpp"
#include "core/cluster/planning/preemption_holds.hpp"
#include "core/cluster/planning/starter.hpp"
#include "core/cluster/planning/waiting_reasons.hpp"
#include "core/cluster/transition.hpp"
#include "core/cluster/world.hpp"
#include "core/sched/queue.hpp"

namespace switchyard::core {

class Planning {
  public:
    struct Others {
        Holdings& holdings;
        const HetJobs& hets;
        Licenses& licenses;
        const Calendar& calendar;
        const Arrays& arrays;
        JobTimers& timers;
        Waiters& waiters;
    };
    Planning(World& world, Others others, Cluster::Impl& cluster);
    Planning(const Planning&) = delete;

    sched::Queue queue;
    HetPlaces het;
    PreemptionHolds holds;
    Backfill backfill;
    WaitingReasons reasons;
    Feasibility feasibility;
    Lending lending;
    Preemption preemption;
    Starter starter;

    // The tables are built anew: nobody waits, nothing is planned.
    void clear();

    // --- what has happened
    void observe(const Transition& transition);
    void job_queued(sched::QueueKey key);
    // The node has more to give than before.
    void capacity_freed(NodeIndex node);
    // The node turned out to be different.
    void node_described(NodeIndex node);
    // Advance reservations are not what they were.
    void windows_changed();

    void run_pass();
    std::optional<Instant> next_pass() const;
    void check() const;

  private:
    void serve_holds();

    World& world_;
    bool more_to_do_ = false;  // The last pass let others in before it was done.
};

}  // namespace switchyard::core
