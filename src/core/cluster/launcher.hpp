// launcher.hpp: what happens when a job has got its nodes: PrologSlurmctld of the site, then its
// nodes hear of it, its script begins, or its owner is told.
//
// That PrologSlurmctld or EpilogSlurmctld is owed is part of the record (Running::configuring,
// Completing::epilog). A controller that was killed meanwhile has it run again from the beginning:
// whether it had ended is not known, and nothing of the job was launched before it had. Components
// of a heterogeneous job begin when the programs of all have ended.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "core/cluster/het_jobs.hpp"
#include "core/cluster/job_timers.hpp"
#include "core/cluster/nodes/restore.hpp"
#include "core/cluster/steps/steps.hpp"
#include "core/cluster/transition.hpp"
#include "core/cluster/waiters.hpp"
#include "core/cluster/world.hpp"

namespace switchyard::core {

class Launcher {
  public:
    Launcher(World& world, const HetJobs& hets, const Restore& restore, Steps& steps,
             Waiters& waiters, JobTimers& timers)
        : world_(world),
          hets_(hets),
          restore_(restore),
          steps_(steps),
          waiters_(waiters),
          timers_(timers) {}

    // What a controller before this one owed.
    void load(const Job& job);
    void observe(const Transition& transition);

    // PrologSlurmctld of this run has ended, well.
    void prolog_ended(JobId job) { prologs_ended_.insert(job); }
    // All that run of the job's components, once none of them has anything to wait for.
    void begin_if_ready(const Job& any);
    // The run is over, perhaps before it was launched.
    void stop_prolog(const Job& job, model::Running& run);
    // How often in a row its script could not be launched.
    std::uint32_t count_failure(JobId job) { return ++failures_[job]; }
    void forget_failures(JobId job) { failures_.erase(job); }

  private:
    void begin(const Job& job);
    void prepare_nodes(const Job& job);
    void launch_batch(const Job& job);

    World& world_;
    const HetJobs& hets_;
    const Restore& restore_;
    Steps& steps_;
    Waiters& waiters_;
    JobTimers& timers_;
    std::set<JobId> prologs_ended_;  // Of the present attempt, well.
    std::map<JobId, std::uint32_t> failures_;
};

}  // namespace switchyard::core
