// lending.hpp: jobs that are suspended for others, and lend them their cores meanwhile.
#pragma once

#include <set>

#include "core/cluster/cluster.hpp"
#include "core/cluster/het_jobs.hpp"
#include "core/cluster/holdings.hpp"
#include "core/cluster/planning/preemption_holds.hpp"
#include "core/cluster/reservations/calendar.hpp"
#include "core/cluster/world.hpp"
#include "core/sched/queue.hpp"

namespace switchyard::core {

class Preemption;

class Lending {
  public:
    Lending(World& world, sched::Queue& queue, PreemptionHolds& holds, Preemption& preemption,
            Holdings& holdings, const HetJobs& hets, const Calendar& calendar,
            Cluster::Impl& cluster)
        : world_(world),
          queue_(queue),
          holds_(holds),
          preemption_(preemption),
          holdings_(holdings),
          hets_(hets),
          calendar_(calendar),
          cluster_(cluster) {}

    void clear() { lenders_.clear(); }
    bool contains(JobId job) const { return lenders_.contains(job); }
    // Who is suspended for others, and lends them its cores.
    void index(const Job& job) {
        const bool suspended = std::holds_alternative<model::Suspended>(job.phase);
        const auto* run = model::run_of(job);
        if (suspended && run->preempted && run->preempted->lends_cores) {
            lenders_.insert(job.id);
        } else {
            lenders_.erase(job.id);
        }
    }
    void forget(JobId job) { lenders_.erase(job); }
    void lend_cores(Job& job);
    bool take_cores_back(Job& job);
    void resume(bool before_others);

  private:
    bool cores_are_back(const Job& job) const;
    void hold_for(const Job& job, PartitionIndex partition);

    World& world_;
    sched::Queue& queue_;
    PreemptionHolds& holds_;
    Preemption& preemption_;
    Holdings& holdings_;
    const HetJobs& hets_;
    const Calendar& calendar_;
    Cluster::Impl& cluster_;
    std::set<JobId> lenders_;
};

}  // namespace switchyard::core
