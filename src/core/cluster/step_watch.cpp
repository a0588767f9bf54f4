// step_watch.cpp: those who look on: swait is told of the ends of steps; a message goes to whoever
// sees the output of a job.

#include <algorithm>
#include <utility>

#include "core/cluster/check_texts.hpp"
#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {
namespace {

bool is_regular(StepId step) {
    return step != kBatchStep && step != kExternStep && step != kInteractiveStep;
}

bool is_queued(const WaitingStep& step) { return step.record.has_value(); }

// Steps of srun that run, and those that wait for room without one.
bool has_steps(const JobSide& side) {
    return std::ranges::any_of(side.active_steps, is_regular) ||
           std::ranges::any_of(side.waiting_steps, is_queued);
}

bool has_step(const JobSide& side, StepId step) {
    return side.active_steps.contains(step) ||
           std::ranges::any_of(side.waiting_steps,
                               [&](const WaitingStep& one) { return one.record == step; });
}

}  // namespace

void Cluster::Impl::on(const event::WaitForSteps& event) {
    const Job* job = find_job(event.job);
    if (job == nullptr) return refuse(event.token, Errc::InvalidJobId);
    if (!may_touch(event.caller, *job)) return refuse(event.token, Errc::AccessDenied);
    if (std::holds_alternative<model::Pending>(job->phase))
        return refuse(event.token, Errc::JobPending);
    JobSide* own = find_side(event.job);
    const bool nothing =
        own == nullptr || !has_steps(*own) || (event.step && !has_step(*own, *event.step));
    if (nothing) return reply(event.token, reply::StepEnds{});
    own->watchers.push_back({event.token, event.step});
    tokens_[event.token].ends_of.insert(event.job);
}

// A step has ended.
void Cluster::Impl::tell_watchers(const Job& job, const StepKey& ended) {
    JobSide* own = find_side(job.id);
    if (own == nullptr || own->watchers.empty() || !is_regular(ended.step)) return;
    const bool drained = !has_steps(*own);
    std::vector<StepWatcher> still;
    for (const StepWatcher& watcher : std::exchange(own->watchers, {})) {
        const bool asked_for = !watcher.step || *watcher.step == ended.step;
        const bool last = drained || (watcher.step && asked_for);
        if (asked_for || last) {
            const std::vector<StepKey> keys =
                asked_for ? std::vector{ended} : std::vector<StepKey>{};
            reply(watcher.token, reply::StepEnds{keys}, last);
        }
        if (last) {
            drop_token(watcher.token, job.id);
        } else {
            still.push_back(watcher);
        }
    }
    own->watchers = std::move(still);
}

// The run is over, and with it all of its steps.
void Cluster::Impl::release_watchers(JobId job) {
    JobSide* own = find_side(job);
    if (own == nullptr) return;
    for (const StepWatcher& watcher : std::exchange(own->watchers, {})) {
        reply(watcher.token, reply::StepEnds{});
        drop_token(watcher.token, job);
    }
}

void Cluster::Impl::on(const event::Notify& event) {
    if (const Status fine = check_comment(event.text, "message"); !fine)
        return reply(event.token, reply::Failed{fine.error(), {}});
    const Job* job = find_job(event.job);
    if (job == nullptr) return refuse(event.token, Errc::InvalidJobId);
    if (!may_touch(event.caller, *job)) return refuse(event.token, Errc::AccessDenied);
    if (std::holds_alternative<model::Pending>(job->phase))
        return refuse(event.token, Errc::JobPending);
    const bool runs = std::holds_alternative<model::Running>(job->phase) ||
                      std::holds_alternative<model::Suspended>(job->phase);
    if (!runs) return refuse(event.token, Errc::JobFinished);
    if (job->spec->kind == model::JobKind::Batch) {
        emit(effect::NotifyBatch{model::allocation_of(*job)->nodes.front().node, job->id,
                                 job->attempt, event.text});
    } else if (const JobSide* own = find_side(job->id); own != nullptr && own->owner) {
        reply(*own->owner,
              reply::OwnerNotice{job->id, reply::OwnerNotice::Kind::Message, {}, event.text},
              false);
    } else {
        return refuse(event.token, Errc::JobNotRunning);
    }
    reply(event.token, reply::Done{{}, 1, {model::display_id(*job)}});
}

}  // namespace switchyard::core
