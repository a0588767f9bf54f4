// suspend.cpp: frozen in place. Cores and memory stay held; the time limit stands still.

#include "core/cluster/selected.hpp"

namespace switchyard::core {

void Cluster::Impl::on(const event::Suspend& event) {
    auto done = for_each_selected(event.jobs, event.caller, [&](Job& job) -> std::optional<Errc> {
        if (!is_operator(event.caller)) return Errc::AccessDenied;
        if (std::holds_alternative<model::Pending>(job.phase)) return Errc::JobPending;
        if (std::holds_alternative<model::Ended>(job.phase)) return Errc::JobFinished;
        if (std::holds_alternative<model::Completing>(job.phase)) return Errc::JobCompleting;
        if (event.resume) {
            auto* suspended = std::get_if<model::Suspended>(&job.phase);
            if (suspended == nullptr) return Errc::JobNotSuspended;
            // Never nothing: a node that has not heard of its end is told again because of it.
            const auto pause = std::chrono::ceil<Seconds>(now_ - suspended->since);
            model::Running run = std::move(suspended->run);
            run.suspended_for += pause;
            if (run.ends_by) *run.ends_by += pause;
            job.phase = std::move(run);
        } else {
            auto* running = std::get_if<model::Running>(&job.phase);
            if (running == nullptr) return Errc::JobNotRunning;
            model::Running run = std::move(*running);
            job.phase = model::Suspended{std::move(run), now_};
        }
        touch(job);
        for (const model::NodeGrant& grant : model::allocation_of(job)->nodes) {
            emit(effect::Freeze{grant.node, job.id, job.attempt, event.resume});
            if (event.resume)
                emit(effect::SetDeadline{grant.node, job.id, job.attempt, deadline_of(job)});
        }
        notify_owner(job, event.resume ? reply::OwnerNotice::Kind::Resumed
                                       : reply::OwnerNotice::Kind::Suspended);
        set_until(job);
        retime(job);
        if (event.resume) {
            begin_if_ready(job);
            retry_waiting_steps(job.id);
        }
        return std::nullopt;
    });
    reply(event.token, std::move(done));
}

}  // namespace switchyard::core
