// ownership.cpp: an allocation lives as long as the salloc or srun that asked for it.

#include <algorithm>
#include <utility>

#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {

void Cluster::Impl::on(const event::TokenGone& event) {
    const auto role = waiters_.gone(event.token);
    if (!role) return;
    job_steps_.token_gone(event.token, role->steps_of);
    for (const JobId id : role->owns) {
        Job* job = find_job(id);
        if (job == nullptr || !waiters_.disown(event.token, id)) continue;
        if (event.may_return && !job->spec->detached) {
            timers_.set({TimerKey::Kind::Owner, id.value}, now_ + settings_.owner_grace);
        } else {
            owner_left(*job, std::nullopt);
        }
    }
}

void Cluster::Impl::on(const event::Release& event) {
    Job* job = find_job(event.job);
    if (job == nullptr) return refuse(event.token, Errc::InvalidJobId);
    if (!rights_of(event.caller).may_change_job(job->spec->uid))
        return refuse(event.token, Errc::AccessDenied);
    if (job->spec->kind != model::JobKind::Allocation)
        return refuse(event.token, Errc::InvalidJobId);
    if (model::is_finished(*job)) return refuse(event.token, Errc::JobFinished);
    if (std::holds_alternative<model::Completing>(job->phase))
        return refuse(event.token, Errc::JobFinished);
    owner_left(*job, event.exit);
    reply(event.token, reply::Done{{}, 1, {model::display_id(*job)}});
}

// The command that asked for the allocation is done. Where it did not say how, the only step it ran
// tells.
void Cluster::Impl::owner_left(Job& job, std::optional<model::ExitStatus> exit) {
    if (job.spec->detached && !exit) return;
    if (std::holds_alternative<model::Pending>(job.phase)) {
        return end_pending(job, outcome_without_exit(model::JobState::Cancelled,
                                                     model::Reason::None, job.spec->uid));
    }
    const bool runs = std::holds_alternative<model::Running>(job.phase) ||
                      std::holds_alternative<model::Suspended>(job.phase);
    if (!runs) return;
    if (!exit && job.next_step == 1) {
        const auto step = steps_.find(StepKey{job.id, job.attempt, StepId{0}});
        if (step != steps_.end() && step->second.end) exit = step->second.end->exit;
    }
    model::Outcome outcome;
    outcome.exit = exit.value_or(model::ExitStatus{});
    if (!outcome.exit.ok()) {
        outcome.state = model::JobState::Failed;
        outcome.reason =
            outcome.exit.signal != 0 ? model::Reason::RaisedSignal : model::Reason::NonZeroExitCode;
    }
    end_run(job, outcome, EndCause::Finished, settings_.kill_wait, model::Completing::Next::End);
}

}  // namespace switchyard::core
