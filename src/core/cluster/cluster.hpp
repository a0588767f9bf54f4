// cluster.hpp: the state machine of the cluster. It decides and does nothing else: one thread, no
// clock, no socket, no file, no log. The same events at the same instants give the same effects.
//
// The contract with the shell (src/controller, sim/):
//   1. step(now, event) for every event that arrived, `now` never going back;
//   2. write the records that take_changes() gives, in one transaction;
//   3. only then carry out take_effects(), in order.
// Recovery: load the records into `Records`, construct, and step a Tick. What is still owed is
// emitted again; nodes ignore what they already did.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "core/cluster/effect.hpp"
#include "core/cluster/event.hpp"
#include "core/cluster/figures.hpp"
#include "core/cluster/job_table.hpp"
#include "core/cluster/settings.hpp"
#include "model/job.hpp"
#include "model/node.hpp"
#include "model/partition.hpp"
#include "model/records.hpp"
#include "model/reservation.hpp"
#include "model/rights.hpp"
#include "model/step.hpp"
#include "model/trigger.hpp"

namespace switchyard::core {

// What the store held: only jobs that have not ended, or ended within MinJobAge. If it is a
// restored backup, what ran after it was made is asked of the nodes before any of these jobs
// starts.
struct Records : model::RecordLists {
    // Hands over one job after the other, each with its steps: all of them open at once would take
    // more memory than the cluster ever needs again. None: there are no jobs.
    using TakeJob = std::function<void(model::Job, std::vector<model::Step>)>;
    std::function<void(const TakeJob& take)> jobs;
    JobId next_job_id{0};                   // 0: none stored yet.
    std::uint32_t next_reservation_id = 0;  // 0: none stored yet.
};

class Cluster {
  public:
    class Impl;  // Known inside this folder alone.
    Cluster(Settings settings, Records records, Instant now, JobKeeping keeping = {});
    ~Cluster();
    Cluster(const Cluster&) = delete;
    Cluster& operator=(const Cluster&) = delete;

    void step(Instant now, const Event& event);
    // Starts what fits now. Called by the shell once after a batch of step()s, so that one pass
    // serves many submissions. (The simulator and the tests call it after every event.)
    void schedule(Instant now);

    std::vector<Effect> take_effects();
    Changes take_changes();  // Each record as it is now.
    // When a Tick is due at the latest; none: nothing is timed.
    std::optional<Instant> next_wakeup() const;

    // --- reading; all of it from the owner's thread ---
    const Settings& settings() const;
    model::Rights rights_of(const model::Caller& caller) const;
    // A job that it gives stays valid until the next step() or schedule().
    const JobTable& jobs() const;
    const std::map<StepKey, model::Step>& steps() const;
    const std::vector<model::Node>& nodes() const;  // In configuration order.
    const model::Node* find_node(std::string_view name) const;
    const std::vector<model::Partition>& partitions() const;
    std::vector<std::string> deleted_partitions() const;
    const std::map<std::uint32_t, model::Trigger>& triggers() const;
    // The records of an array, or the one job; empty if unknown.
    std::vector<const model::Job*> find(const model::JobSelector& selector) const;
    JobId next_job_id() const;
    const std::map<std::string, model::Reservation>& reservations() const;  // By name.
    std::uint32_t next_reservation_id() const;
    std::vector<model::LicenseUse> licenses() const;
    SchedulerFigures figures() const;
    // When the nodes are to end this job: its time limit and the site's OverTimeLimit; none:
    // unlimited.
    std::optional<Instant> deadline_of(const model::Job& job) const;

    // After a restored backup: whether this node, when it registers, is to be asked what it began
    // (event::NodeBegan); and whether jobs of the backup still wait for such answers.
    bool asks_begun(std::string_view node) const;
    bool restoring() const;

    // Aborts if a resource is held twice, a sum is off, or a state is impossible. For tests and the
    // simulator.
    void check_invariants() const;

  private:
    std::unique_ptr<Impl> impl_;
};

}  // namespace switchyard::core
