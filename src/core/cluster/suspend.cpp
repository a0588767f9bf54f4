// suspend.cpp: frozen in place, by its owner, an operator or for a job of a higher tier. The time
// limit stands still. Memory and cards stay held; cores do so too, unless another job is to have
// them meanwhile (planning/lending.hpp).

#include <algorithm>

#include "core/cluster/selected.hpp"

namespace switchyard::core {

void Cluster::Impl::freeze(Job& job) {
    model::Running run = std::move(std::get<model::Running>(job.phase));
    change(job, model::Suspended{std::move(run), now_}, Cause::Frozen);
    tell_frozen(job, true);
}

void Cluster::Impl::thaw(Job& job) {
    auto& suspended = std::get<model::Suspended>(job.phase);
    // Never nothing: a node that has not heard of its end is told again because of it.
    const auto pause = std::chrono::ceil<Seconds>(now_ - suspended.since);
    model::Running run = std::move(suspended.run);
    run.suspended_for += pause;
    if (run.ends_by) *run.ends_by += pause;
    change(job, std::move(run), Cause::Thawed);
    tell_frozen(job, false);
}

void Cluster::Impl::tell_frozen(Job& job, bool frozen) {
    for (const model::NodeGrant& grant : model::allocation_of(job)->nodes) {
        const Seconds grace = frozen ? settings_.preempt.suspend_grace : Seconds{0};
        emit(effect::Freeze{grant.node, job.id, job.attempt, !frozen, grace});
        if (!frozen)
            emit(effect::SetDeadline{grant.node, job.id, job.attempt, world_.deadline_of(job)});
    }
    waiters_.notify_owner(
        job, frozen ? reply::OwnerNotice::Kind::Suspended : reply::OwnerNotice::Kind::Resumed);
    set_until(job);
    planning_.preemption.index_run(job);
    job_timers_.retime(job);
    if (frozen) return;
    launcher_.begin_if_ready(job);
    job_steps_.retry_waiting(job.id);
}

void Cluster::Impl::on(const event::Suspend& event) {
    auto done = for_each_selected(event.jobs, event.caller, [&](Job& job) -> std::optional<Errc> {
        if (std::holds_alternative<model::Pending>(job.phase)) return Errc::JobPending;
        if (std::holds_alternative<model::Ended>(job.phase)) return Errc::JobFinished;
        if (std::holds_alternative<model::Completing>(job.phase)) return Errc::JobCompleting;
        if (event.resume) {
            if (!std::holds_alternative<model::Suspended>(job.phase)) return Errc::JobNotSuspended;
            if (planning_.lending.contains(job.id))
                return planning_.lending.take_cores_back(job) ? std::nullopt
                                                              : std::optional(Errc::NodesBusy);
            thaw(job);
        } else {
            const auto* running = std::get_if<model::Running>(&job.phase);
            if (running == nullptr) return Errc::JobNotRunning;
            // It is about to be ended for another.
            if (running->preempted) return Errc::JobCompleting;
            freeze(job);
        }
        return std::nullopt;
    });
    reply(event.token, std::move(done));
}

}  // namespace switchyard::core
