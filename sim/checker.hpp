// checker.hpp: the promises. It hears of everything that truly happens in the world and of
// everything the controller says, and stops the simulation when the two cannot both be right.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/cluster/cluster.hpp"
#include "core/testing/fake_disk.hpp"

namespace switchyard::sim {

class SimController;

// What truly became of one run's script.
struct RunTruth {
    bool launched = false;
    bool ended_itself = false;
    model::ExitStatus exit;
    bool killed = false, timed_out = false, crashed = false;
};

class Checker {
  public:
    void submitted(JobId id, const std::string& name);  // Acknowledged.
    void heterogeneous(JobId leader, std::uint32_t components) { hets_[leader] = components; }
    void seen(const model::Job& job);  // Launched, or on disk.
    void executed(const std::string& node, const StepKey& key, const model::Job& job,
                  const std::vector<StepKey>& alive_there, SimController& controller);
    // What the node knew of its steps is lost.
    void spool_emptied(const std::string& node) { emptied_.insert(node); }
    // An older disk took the place of the present one: what came after it is lost.
    void restored(const core::testing::FakeDisk& disk);
    // It did not say in time what it began since that disk: nobody waits for it longer.
    void unheard(const std::string& node) { unheard_.insert(node); }
    void written_off(const std::string& node, Instant at) { written_off_[node] = at; }
    void lost_power() { power_lost_ = true; }
    void over(const std::string& node, const StepKey& key, const RunTruth& truth);
    void cancel_acknowledged(JobId id, Attempt attempt) { cancelled_[id] = attempt; }
    void may_be_cancelled(JobId id) { touched_.insert(id); }
    void requeued_by_hand(JobId id) { by_hand_.insert(id); }
    void began_waiting(std::uint64_t waiter, JobId job) { waiting_[waiter] = job; }
    void step_accepted(const StepKey& key) { async_steps_.insert(key); }
    void was_answered(std::uint64_t waiter) { waiting_.erase(waiter); }

    // Of every run that has begun since the last time: it keeps out of the reservations of others,
    // and within its own; and no more licenses are held than there are.
    void reservations_hold(const core::Cluster& cluster);
    // Components of a heterogeneous job start together or not at all, and end together.
    void components_agree(const core::Cluster& cluster) const;

    // At rest, with everything healed.
    void at_rest(const core::Cluster& cluster, const core::testing::FakeDisk& disk) const;

  private:
    void true_ending(const model::Job& job) const;
    bool some_attempt_ended_well(JobId job) const;
    bool may_begin_again(const StepKey& key, const std::string& before,
                         SimController& controller) const;
    void components_at_rest(const core::testing::FakeDisk& disk) const;

    std::map<JobId, std::string> acknowledged_, names_;
    std::map<JobId, std::uint32_t> hets_;
    std::map<StepKey, RunTruth> truth_;  // Of batch steps.
    std::set<std::pair<std::string, StepKey>> executed_;
    std::map<JobId, std::pair<StepKey, std::string>> live_script_;
    std::map<std::pair<std::string, std::pair<JobId, Attempt>>, model::IndexSet> cores_;
    std::map<std::string, Instant> written_off_;
    std::map<StepKey, std::string> began_on_;  // Batch steps, and the node where each last began.
    std::set<StepKey> begun_on_disk_;
    std::set<std::string> emptied_, unheard_;
    bool restored_ = false;
    std::set<JobId> rolled_back_;  // Jobs that a restored backup had.
    bool power_lost_ = false;
    std::map<StepKey, Instant> launched_at_;
    std::map<JobId, Attempt> cancelled_;
    std::set<JobId> touched_, by_hand_;
    std::map<std::uint64_t, JobId> waiting_;
    std::set<std::pair<JobId, Attempt>> begun_;
    std::set<StepKey> async_steps_;  // Those that nobody would ask for again.

  public:
    bool launch_may_wait = false;  // There is a PrologSlurmctld: a limit may come before it ends.
    Instant now{};
};

}  // namespace switchyard::sim
