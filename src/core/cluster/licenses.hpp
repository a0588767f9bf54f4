// licenses.hpp: jobs that need licenses of the cluster. One that cannot have them is not in the
// queue, so that it holds up nobody for nodes; it stands in a line of its own. The first in that
// line is protected: whoever is behind it gets licenses only if it does not have to wait longer
// for that.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/result.hpp"
#include "core/cluster/het_jobs.hpp"
#include "core/cluster/reservations/calendar.hpp"
#include "core/cluster/transition.hpp"
#include "core/cluster/world.hpp"
#include "core/sched/license_ledger.hpp"
#include "core/sched/order.hpp"
#include "model/licenses.hpp"

namespace switchyard::core {

class Licenses {
  public:
    Licenses(World& world, const HetJobs& hets, const Calendar& calendar)
        : world_(world), hets_(hets), calendar_(calendar) {}

    // As configured: nobody has any, nobody waits.
    void clear();
    void observe(const Transition& transition);
    // Who is said to have some has them; only who is not started yet waits.
    void check() const;

    Status check(const JobSpec& spec) const;
    bool could_meet(const model::LicenseRequest& request) const {
        return ledger_.could_meet(request);
    }
    // Whether there are so many at all that every component of a heterogeneous job has its own.
    bool suffice(const std::vector<JobSpec>& specs) const;
    // What it would get now, in the reservation `owner`; none: it has to wait.
    std::optional<std::vector<model::License>> find(const Job& job,
                                                    sched::WindowOwner owner) const {
        return find(job, owner, ledger_);
    }
    bool has_for(const Job& job) const;
    std::vector<model::LicenseUse> use() const { return ledger_.use(world_.now); }

    // It stands in line, and people are told when its turn should come.
    void wait(Job& job);
    void leave_line(JobId job);
    bool waits(JobId job) const { return places_.contains(job); }
    // Licenses came back: those in line who can have them now enter the queue, each beside those
    // before it, as long as there is something left.
    void call_line();

    // What the run of a job has.
    void hold(const Job& job, Instant until);
    void set_until(JobId job, Instant until) { ledger_.set_until(job, until); }
    // What reservations keep.
    void set_kept(std::vector<sched::LicenseLedger::Kept> kept) {
        ledger_.set_kept(std::move(kept));
    }
    // While places are looked for: as if a component had its own already.
    void lend(JobId job, const std::vector<model::License>& licenses, Instant until,
              sched::WindowOwner owner) {
        ledger_.claim(job, licenses, until, owner);
    }
    void take_back(JobId job) { ledger_.release(job); }

  private:
    std::optional<std::vector<model::License>> find(const Job& job, sched::WindowOwner owner,
                                                    const sched::LicenseLedger& ledger) const;
    std::optional<sched::LicenseLedger> with_licenses(const Job& job) const;
    model::LicenseRequest wanted_by(const Job& job) const;
    sched::QueueKey key_for(const Job& job) const;

    World& world_;
    const HetJobs& hets_;
    const Calendar& calendar_;
    sched::LicenseLedger ledger_;
    std::set<sched::QueueKey> line_;           // Those who wait,
    std::map<JobId, sched::QueueKey> places_;  // and where each stands.
};

}  // namespace switchyard::core
