// backfill.hpp: backfill reservations, and the plan that makes them.
//
// Whether the plan is out of date is known here alone: others say what has happened.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "core/cluster/licenses.hpp"
#include "core/cluster/planning/het_places.hpp"
#include "core/cluster/planning/plan.hpp"
#include "core/cluster/planning/preemption_holds.hpp"
#include "core/cluster/world.hpp"
#include "core/sched/queue.hpp"

namespace switchyard::core {

class Backfill {
  public:
    Backfill(World& world, sched::Queue& queue, const PreemptionHolds& holds, HetPlaces& het,
             const Licenses& licenses)
        : world_(world), queue_(queue), holds_(holds), het_(het), licenses_(licenses) {}

    // The tables are built anew: nothing is reserved.
    void clear();
    void begin_pass() { unplanned_.clear(); }

    // --- what has happened
    void job_queued(sched::QueueKey key);
    void capacity_changed() { is_stale_ = true; }
    void windows_changed();

    // --- the plan, in parts
    bool is_due() const;
    // When the next one is to be made, if nothing else happens.
    std::optional<Instant> next_plan() const;
    bool continue_plan();

    // --- one job
    bool protect_those_ahead(PartitionIndex partition, sched::QueueKey key);
    void drop(JobId job);

  private:
    const BackfillReservation* reservation_of(JobId job) const;
    void ensure_reserved(sched::QueueKey key, PartitionIndex partition);
    void reserve(const sched::Group& group, sched::QueueKey key, const sched::Planned& planned);
    bool plan_next(PlanInMaking& plan, const sched::Queue::Stand& stand, std::uint64_t looks);
    void plan_one(PlanInMaking& plan, sched::QueueKey key, PartitionIndex partition);
    bool is_full(const PlanInMaking& plan) const;
    const sched::Planned* kept_from_before(PlanInMaking& plan, sched::QueueKey key,
                                           const sched::Group& group) const;
    void commit_plan();
    void forget_estimates();
    bool take_over(const PlanInMaking::Entry& entry, const sched::Group& group,
                   sched::BackfillReservations& reserved, sched::Outlook* check) const;
    std::vector<JobId> estimate_entry(const PlanInMaking::Entry& entry);

    World& world_;
    sched::Queue& queue_;
    const PreemptionHolds& holds_;
    HetPlaces& het_;
    const Licenses& licenses_;

    std::map<JobId, BackfillReservation> reservations_;
    std::set<JobId> estimated_;  // Have an estimated start, and no reservation.
    std::set<JobId> unplanned_;  // First in line, and no start was found for them in this pass.
    std::unique_ptr<PlanInMaking> making_;
    bool is_stale_ = true;
    bool is_short_ = false;               // All that is wrong: some came behind those in it.
    bool some_lack_estimates_ = false;    // It was not deep, and ended before the queue did.
    std::optional<sched::QueueKey> end_;  // Jobs behind it have no part in the plan.
    std::optional<Instant> expires_;      // The first start that it foresees.
    std::optional<Instant> next_;         // Not before.
    Instant next_deep_{};
};

}  // namespace switchyard::core
