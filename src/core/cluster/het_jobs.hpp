// het_jobs.hpp: which records are the components of a heterogeneous job. The first of them, the
// leader, has the script (or the owner) and stands in the queue for all.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/cluster/job_facts.hpp"
#include "core/cluster/transition.hpp"
#include "core/cluster/world.hpp"

namespace switchyard::core {

class HetJobs {
  public:
    explicit HetJobs(World& world) : world_(world) {}

    void load(const Job& job);
    void observe(const Transition& transition);
    void check() const;

    bool contains(JobId leader) const { return components_.contains(leader); }
    // The records that are left of it; null: there is no such heterogeneous job.
    const std::set<JobId>* find(JobId leader) const;
    // The leader's record if it is there, else the job itself.
    const Job& leader_of(const Job& job) const;
    // The number of its leader; of any other job its own.
    JobId first_of(JobId id) const;
    std::vector<JobId> components_of(const Job& job) const;
    // Those that are not over: a cancelled follower does not come back.
    std::vector<JobId> live_components(const Job& leader) const;
    // Components whose leader's record is gone.
    std::vector<JobId> orphans() const;
    // Why a job waits, and those that it leads. Reasons are derived: they are shown from memory and
    // stored only along with real changes.
    void set_reason(Job& job, model::Reason reason, std::string detail = {}) const;
    // Its followers wait for what it waits for.
    void share_reason(const Job& leader) const;

  private:
    void forget(const Job& job);

    World& world_;
    std::map<JobId, std::set<JobId>> components_;  // By leader.
};

}  // namespace switchyard::core
