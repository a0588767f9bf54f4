// preemption.hpp: who may be preempted, who has to go for whom, and who is leaving.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "core/cluster/cluster.hpp"
#include "core/cluster/het_jobs.hpp"
#include "core/cluster/holdings.hpp"
#include "core/cluster/job_timers.hpp"
#include "core/cluster/licenses.hpp"
#include "core/cluster/planning/backfill.hpp"
#include "core/cluster/planning/het_places.hpp"
#include "core/cluster/planning/lending.hpp"
#include "core/cluster/planning/preemptable_runs.hpp"
#include "core/cluster/planning/preemption_holds.hpp"
#include "core/cluster/planning/waiting_reasons.hpp"
#include "core/cluster/waiters.hpp"
#include "core/cluster/world.hpp"
#include "core/sched/queue.hpp"

namespace switchyard::core {

class Preemption {
  public:
    struct Others {
        sched::Queue& queue;
        Backfill& backfill;
        PreemptionHolds& holds;
        Lending& lending;
        WaitingReasons& reasons;
        HetPlaces& het;
        Holdings& holdings;
        const HetJobs& hets;
        const Licenses& licenses;
        JobTimers& timers;
        Waiters& waiters;
    };
    Preemption(World& world, Others others, Cluster::Impl& cluster)
        : world_(world),
          queue_(others.queue),
          backfill_(others.backfill),
          holds_(others.holds),
          lending_(others.lending),
          reasons_(others.reasons),
          het_(others.het),
          holdings_(others.holdings),
          hets_(others.hets),
          licenses_(others.licenses),
          job_timers_(others.timers),
          waiters_(others.waiters),
          cluster_(cluster) {}

    // --- preemptable.cpp: who may be, and who is leaving
    void clear();
    std::optional<Instant> preemptable_from(const Job& job, Instant started) const;
    void renew(Job& job);
    void index_run(const Job& job);
    void run_is_over(JobId job);
    void has_left(JobId job, const model::Running& run);
    void finished(JobId job) { leaving_.erase(job); }
    void capacity_changed() { is_stale_ = true; }
    void drop_hold(JobId job);
    void look_again_at(Instant at);
    // Somebody may be preempted then who may not be now.
    std::optional<Instant> looks_again_at() const { return again_; }
    void check() const;

    // --- preemption.cpp: room for those who find none
    bool is_due();
    bool preempt_for_waiting();

    // --- victims.cpp: what becomes of those who have to go
    void warn(const Job& job);
    void end(Job& job);

  private:
    model::PreemptMode mode_of(const Job& job) const;
    std::optional<std::vector<FoundPlace>> find_places(const sched::Group& group,
                                                       sched::QueueKey key);
    std::set<JobId> lift_leaving(LiftedRuns& lifted, JobId waiting);
    std::optional<PreemptUnit> unit_of(const Job& job, std::uint32_t tier);
    std::vector<PreemptUnit> preemptable_for(const sched::Group& group, sched::QueueKey key);
    bool choose_victims(const sched::Group& group, sched::QueueKey key, LiftedRuns& lifted,
                        std::vector<PreemptUnit>& units);
    bool may_take(const std::vector<FoundPlace>& found,
                  const std::vector<PreemptUnit>& units) const;
    bool try_preempt(const sched::Group& group, sched::QueueKey key);
    void hold_places(const sched::Group& group, sched::QueueKey key,
                     const std::vector<FoundPlace>& found, std::set<JobId> victims);
    bool is_next(const sched::Group& group, sched::QueueKey key) const;
    void preempt(const PreemptUnit& unit, JobId by);

    World& world_;
    sched::Queue& queue_;
    Backfill& backfill_;
    PreemptionHolds& holds_;
    Lending& lending_;
    WaitingReasons& reasons_;
    HetPlaces& het_;
    Holdings& holdings_;
    const HetJobs& hets_;
    const Licenses& licenses_;
    JobTimers& job_timers_;
    Waiters& waiters_;
    Cluster::Impl& cluster_;

    PreemptableRuns preemptable_;
    std::set<JobId> leaving_;  // Jobs that are being ended.
    bool is_stale_ = true;
    std::optional<Instant> again_;
    std::optional<sched::Queue::Stand> from_;  // Those before it were tried.
};

}  // namespace switchyard::core
