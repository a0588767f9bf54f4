// victims.cpp: what becomes of a job that has to make room: it is suspended, or ended and perhaps
// queued again. Only one that is cancelled is warned first, and given its partition's grace.

#include <algorithm>
#include <csignal>

#include "core/cluster/cluster_impl.hpp"
#include "core/cluster/planning/preemption.hpp"

namespace switchyard::core {

// What becomes of those who have to go.
void Preemption::preempt(const PreemptUnit& unit, JobId by) {
    Job& first = world_.jobs.at(unit.jobs.front());
    const Seconds grace{world_.partition_of(first)->grace_time};
    const bool graced = unit.mode == model::PreemptMode::Cancel && grace > Seconds{0};
    for (const JobId id : unit.jobs) {
        Job& job = world_.jobs.at(id);
        model::Preemption preemption{world_.now, by, std::nullopt, false};
        if (graced) preemption.grace_ends = world_.now + grace;
        std::get<model::Running>(job.phase).preempted = preemption;
        world_.touch(job);
        if (unit.mode == model::PreemptMode::Suspend) {
            lending_.lend_cores(job);
        } else if (graced) {
            warn(job);
            index_run(job);
            holdings_.set_until(job);
            job_timers_.retime(job);
        } else if (world_.settings.preempt.send_user_signal && job.spec->warn_signal.signal != 0) {
            warn(job);
        }
    }
    if (unit.mode != model::PreemptMode::Suspend && !graced) end(first);
}

// All its tasks hear of it; its script does when the grace is over.
void Preemption::warn(const Job& job) {
    event::Signal signal;
    signal.signal = SIGCONT;
    cluster_.signal_running(job, signal, std::nullopt);
    signal.signal = SIGTERM;
    const auto& warn = job.spec->warn_signal;
    const model::Running& run = *model::run_of(job);
    if (world_.settings.preempt.send_user_signal && warn.signal != 0 &&
        (!run.ends_by || *run.ends_by - warn.before > world_.now)) {
        signal.signal = warn.signal;
        signal.batch_only = warn.batch_only;
    }
    cluster_.signal_running(job, signal, std::nullopt);
}

// Requeued, if that is how it goes and it can be; else it is over.
void Preemption::end(Job& job) {
    const Job& leader = hets_.leader_of(job);
    model::PreemptMode mode = model::PreemptMode::Off;
    for (const JobId id : hets_.components_of(job))
        mode = std::max(mode, mode_of(world_.jobs.at(id)));
    const bool again = mode == model::PreemptMode::Requeue &&
                       leader.spec->kind == model::JobKind::Batch &&
                       leader.spec->requeue.value_or(world_.settings.requeue_by_default);
    using Next = model::Completing::Next;
    if (!again) waiters_.notify_owner(job, reply::OwnerNotice::Kind::Cancelled);
    cluster_.end_run(job, outcome_without_exit(model::JobState::Preempted, model::Reason::None),
                     EndCause::Preempted, world_.settings.kill_wait,
                     again ? Next::Requeue : Next::End);
}

}  // namespace switchyard::core
