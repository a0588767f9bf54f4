// het.cpp: heterogeneous jobs. Each component is a record of its own, with needs and nodes of its
// own; the first, the leader, has the script (or the owner) and stands in the queue for all. They
// start in one step or not at all, and whatever ends one run ends all of them; only a cancelled
// follower goes alone.

#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {

using model::Reason;

// A follower is never in the queue itself: what changes about it is a matter of its leader's.
bool Cluster::Impl::review_follower(Job& job) {
    if (!is_follower(job)) return false;
    Job* leader = find_job(job.het->leader);
    if (leader == nullptr || model::is_finished(*leader)) {
        // Nobody will start it. What became of the leader, if that is known, becomes of it.
        const model::Outcome* end = leader != nullptr ? model::outcome_of(*leader) : nullptr;
        end_pending(job,
                    outcome_without_exit(end != nullptr ? end->state : model::JobState::Cancelled,
                                         end != nullptr ? end->reason : Reason::None));
        return true;
    }
    job_timers_.retime(job);
    review(*leader);
    return true;
}

// Components that run and whose leader's record is gone: nobody will say when they are over.
void Cluster::Impl::end_orphans() {
    for (const JobId id : hets_.orphans()) {
        Job& job = jobs_.at(id);
        const bool runs = std::holds_alternative<model::Running>(job.phase) ||
                          std::holds_alternative<model::Suspended>(job.phase);
        if (!runs) continue;
        end_run(job, outcome_without_exit(model::JobState::Cancelled, Reason::None),
                EndCause::Cancelled, settings_.kill_wait, model::Completing::Next::End);
    }
}

// The others' runs end as this one does. A follower that was cancelled goes alone.
void Cluster::Impl::end_companions(const Job& job, const model::Outcome& outcome, EndCause cause,
                                   Seconds grace, model::Completing::Next next) {
    if (is_follower(job) && outcome.state == model::JobState::Cancelled &&
        next == model::Completing::Next::End)
        return;
    for (const JobId id : hets_.components_of(job)) {
        Job& other = jobs_.at(id);
        const bool runs = std::holds_alternative<model::Running>(other.phase) ||
                          std::holds_alternative<model::Suspended>(other.phase);
        if (id != job.id && runs) end_run(other, outcome, cause, grace, next);
    }
}

void Cluster::Impl::end_pending_companions(const Job& job, const model::Outcome& outcome) {
    for (const JobId id : hets_.components_of(job)) {
        Job& other = jobs_.at(id);
        if (id == job.id) continue;
        if (std::holds_alternative<model::Pending>(other.phase)) {
            end_pending(other, outcome);
        } else {
            stop_return(other, outcome);
        }
    }
}

}  // namespace switchyard::core
