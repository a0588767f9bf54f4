// requeue.cpp: back into the queue, by command. (After failures it is decided where the failure is
// met.)

#include <algorithm>

#include "core/cluster/selected.hpp"

namespace switchyard::core {

std::optional<Errc> Cluster::Impl::requeue_one(Job& job, const event::Requeue& event) {
    using Next = model::Completing::Next;
    if (std::holds_alternative<model::Pending>(job.phase)) return Errc::JobPending;
    if (is_follower(job) && find_job(job.het->leader) != nullptr)
        return requeue_one(jobs_.at(job.het->leader), event);
    if (job.spec->kind != model::JobKind::Batch) return Errc::RequeueDisabled;
    if (!job.spec->requeue.value_or(settings_.requeue_by_default) &&
        !rights_of(event.caller).may_requeue_unwilling()) {
        return Errc::RequeueDisabled;
    }
    const Next next = event.special_exit ? Next::SpecialExit
                      : event.hold       ? Next::RequeueHold
                                         : Next::Requeue;
    if (std::holds_alternative<model::Completing>(job.phase)) {
        // All components or none: one that has left its nodes would stay behind.
        for (const JobId id : hets_.components_of(job)) {
            const auto* completing = std::get_if<model::Completing>(&jobs_.at(id).phase);
            if (completing == nullptr || completing->next != Next::End) return Errc::JobCompleting;
        }
        for (const JobId id : hets_.components_of(job)) {
            Job& part = jobs_.at(id);
            auto& completing = std::get<model::Completing>(part.phase);
            completing.next = next;
            completing.outcome.reason = model::Reason::None;
            touch(part);
        }
        return std::nullopt;
    }
    if (std::holds_alternative<model::Ended>(job.phase)) {
        if (event.incomplete_only) return Errc::JobFinished;
        if (job.array && !job.array->element) return Errc::JobFinished;
        // A component that is only history by now would stay behind.
        if (job.het && hets_.components_of(job).size() < job.het->size) return Errc::JobFinished;
        for (const JobId id : hets_.components_of(job)) {
            Job& part = jobs_.at(id);
            if (!std::holds_alternative<model::Ended>(part.phase)) return Errc::JobCompleting;
        }
        for (const JobId id : hets_.components_of(job)) {
            Job& part = jobs_.at(id);
            requeue_now(part, Cause::Reopened, event.hold || event.special_exit, kRequeueRest);
            if (auto* pending = std::get_if<model::Pending>(&part.phase))
                pending->special_exit = event.special_exit;
        }
        return std::nullopt;
    }
    model::Outcome outcome;
    outcome.state = model::JobState::Requeued;
    end_run(job, outcome, EndCause::Requeued, settings_.kill_wait, next);
    return std::nullopt;
}

void Cluster::Impl::on(const event::Requeue& event) {
    auto done = for_each_selected(event.jobs, event.caller,
                                  [&](Job& job) { return requeue_one(job, event); });
    reply(event.token, std::move(done));
}

}  // namespace switchyard::core
