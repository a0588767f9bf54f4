// waiting_reasons.hpp: why each job in the queue has not started: squeue's REASON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/cluster/het_jobs.hpp"
#include "core/cluster/planning/preemption_holds.hpp"
#include "core/cluster/reservations/calendar.hpp"
#include "core/cluster/world.hpp"
#include "core/sched/queue.hpp"

namespace switchyard::core {

class WaitingReasons {
  public:
    WaitingReasons(World& world, sched::Queue& queue, const PreemptionHolds& holds,
                   const HetJobs& hets, const Calendar& calendar)
        : world_(world), queue_(queue), holds_(holds), hets_(hets), calendar_(calendar) {}

    void clear();
    void add(JobId job) { fresh_.push_back(job); }
    void forget(JobId job) { std::erase(fresh_, job); }
    void look_at_fronts();
    void look_at_foremost();
    bool settle();
    // Of one in the queue.
    void set(Job& job, PartitionIndex partition);

  private:
    World& world_;
    sched::Queue& queue_;
    const PreemptionHolds& holds_;
    const HetJobs& hets_;
    const Calendar& calendar_;
    std::vector<JobId> fresh_;  // Entered the queue since reasons were settled.
    std::vector<std::optional<sched::QueueKey>> fronts_;  // As of then.
};

}  // namespace switchyard::core
