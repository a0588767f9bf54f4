// timing.cpp: what happens to a job because time has passed.

#include <algorithm>

#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {
void Cluster::Impl::running_timer(Job& job) {
    const model::Running& run = std::get<model::Running>(job.phase);
    if (run.preempted && run.preempted->grace_ends && *run.preempted->grace_ends <= now_)
        return planning_.preemption.end(job);
    if (!run.ends_by) return job_timers_.retime(job);
    for (const model::MailEvent mark : job_timers_.take_marks(job)) mail_.send(job, mark);
    // For scripts the stepd keeps the limit, and this is only the backup; an allocation without a
    // script has nobody else.
    const bool batch = job.spec->kind == model::JobKind::Batch && !run.configuring;
    const Instant limit =
        *world_.deadline_of(job) + (batch ? settings_.kill_wait + kBackupSlack : Seconds{0});
    if (limit > now_) return job_timers_.retime(job);
    // A silent node may have the true end to report: that is waited for, or the node is given up.
    const auto first = node_index(run.allocation.nodes.front().node);
    if (batch && first && !nodes_[*first].responding && !nodes_[*first].down) {
        return timers_.set({TimerKey::Kind::Job, job.id.value}, now_ + kBackupSlack);
    }
    model::Outcome outcome;
    outcome.state = model::JobState::Timeout;
    outcome.reason = model::Reason::TimeLimit;
    outcome.exit.signal = 15;
    waiters_.notify_owner(job, reply::OwnerNotice::Kind::TimeLimit);
    end_run(job, outcome, EndCause::TimeLimit, settings_.kill_wait, model::Completing::Next::End);
}

void Cluster::Impl::job_timer(Job& job) {
    if (std::holds_alternative<model::Pending>(job.phase)) return review(job);
    if (std::holds_alternative<model::Running>(job.phase)) return running_timer(job);
    if (const auto* completing = std::get_if<model::Completing>(&job.phase)) {
        for (const std::string& node : completing->dirty_nodes) {
            if (!nodes_[*node_index(node)].responding) continue;
            emit(effect::EndJob{node, job.id, job.attempt, EndCause::Finished, Seconds{0}});
        }
        return job_timers_.retime(job);
    }
    if (const auto* ended = std::get_if<model::Ended>(&job.phase)) {
        // Kept while its last change is not written yet, and while somebody's dependency may ask
        // for it.
        const bool asked_for = dependencies_.is_named(job.id) ||
                               (job.array && dependencies_.is_named(job.array->array_id));
        if (changes_.jobs.contains(job.id) || asked_for ||
            ended->ended + settings_.min_job_age > now_) {
            return timers_.set({TimerKey::Kind::Job, job.id.value},
                               now_ + std::max(settings_.min_job_age, Seconds{1}));
        }
        forget(job.id);
    }
}

}  // namespace switchyard::core
