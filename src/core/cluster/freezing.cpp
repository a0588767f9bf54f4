// freezing.cpp: a run is frozen in place, and goes on. The time limit stands still. Memory and
// cards stay held; cores do so too, unless another job is to have them meanwhile
// (planning/lending.hpp).

#include <chrono>
#include <utility>

#include "core/cluster/cluster_impl.hpp"

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

}  // namespace switchyard::core
