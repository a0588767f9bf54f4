// preempted.cpp: what becomes of a job that has to make room: it is suspended, or ended and perhaps
// queued again. Only one that is cancelled is warned first, and given its partition's grace.

#include <algorithm>
#include <csignal>

#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {

// What becomes of those who have to go.
void Cluster::Impl::preempt(const PreemptUnit& unit, JobId by) {
    Job& first = jobs_.at(unit.jobs.front());
    const Seconds grace{partition_of(first)->grace_time};
    const bool graced = unit.mode == model::PreemptMode::Cancel && grace > Seconds{0};
    for (const JobId id : unit.jobs) {
        Job& job = jobs_.at(id);
        model::Preemption preemption{now_, by, std::nullopt, false};
        if (graced) preemption.grace_ends = now_ + grace;
        std::get<model::Running>(job.phase).preempted = preemption;
        touch(job);
        if (unit.mode == model::PreemptMode::Suspend) {
            lend_cores(job);
        } else if (graced) {
            warn_preempted(job);
            index_run(job);
            set_until(job);
            retime(job);
        } else if (settings_.preempt.send_user_signal && job.spec->warn_signal.signal != 0) {
            warn_preempted(job);
        }
    }
    if (unit.mode != model::PreemptMode::Suspend && !graced) end_preempted(first);
}

// All its tasks hear of it; its script does when the grace is over.
void Cluster::Impl::warn_preempted(const Job& job) {
    event::Signal signal;
    signal.signal = SIGCONT;
    signal_running(job, signal, std::nullopt);
    signal.signal = SIGTERM;
    const auto& warn = job.spec->warn_signal;
    const model::Running& run = *model::run_of(job);
    if (settings_.preempt.send_user_signal && warn.signal != 0 &&
        (!run.ends_by || *run.ends_by - warn.before > now_)) {
        signal.signal = warn.signal;
        signal.batch_only = warn.batch_only;
    }
    signal_running(job, signal, std::nullopt);
}

// Requeued, if that is how it goes and it can be; else it is over.
void Cluster::Impl::end_preempted(Job& job) {
    const Job& leader = leader_of(job);
    model::PreemptMode mode = model::PreemptMode::Off;
    for (const JobId id : components_of(job)) mode = std::max(mode, preempt_mode_of(jobs_.at(id)));
    const bool again = mode == model::PreemptMode::Requeue &&
                       leader.spec->kind == model::JobKind::Batch &&
                       leader.spec->requeue.value_or(settings_.requeue_by_default);
    using Next = model::Completing::Next;
    if (!again) notify_owner(job, reply::OwnerNotice::Kind::Cancelled);
    end_run(job, outcome_without_exit(model::JobState::Preempted, model::Reason::None),
            EndCause::Preempted, settings_.kill_wait, again ? Next::Requeue : Next::End);
}

}  // namespace switchyard::core
