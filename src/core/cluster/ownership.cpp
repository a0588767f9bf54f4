// ownership.cpp: those who wait. An allocation lives as long as the salloc or srun that asked for
// it; sbatch
// --wait only wants to know the end.

#include <algorithm>
#include <utility>

#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {

void Cluster::Impl::own(Token token, JobId job) {
    JobSide& own_side = side(job);
    if (own_side.owner && *own_side.owner != token) drop_token(*own_side.owner, job);
    own_side.owner = token;
    tokens_[token].owns.insert(job);
    timers_.set({TimerKey::Kind::Owner, job.value}, std::nullopt);
}

void Cluster::Impl::drop_token(Token token, JobId job) {
    const auto found = tokens_.find(token);
    if (found == tokens_.end()) return;
    TokenRole& role = found->second;
    role.owns.erase(job);
    role.waits_for.erase(job);
    role.steps_of.erase(job);
    role.ends_of.erase(job);
    const bool over = role.owns.empty() && role.waits_for.empty() && role.steps_of.empty() &&
                      role.ends_of.empty();
    if (over) tokens_.erase(found);
}

void Cluster::Impl::on(const event::Attach& event) {
    Job* job = find_job(event.job);
    if (job == nullptr) return refuse(event.token, Errc::InvalidJobId);
    if (!may_touch(event.caller, *job)) return refuse(event.token, Errc::AccessDenied);
    if (job->spec->kind != model::JobKind::Allocation)
        return refuse(event.token, Errc::InvalidJobId);
    if (std::holds_alternative<model::Ended>(job->phase)) {
        const model::Outcome& outcome = *model::outcome_of(*job);
        return reply(
            event.token,
            reply::JobEnded{job->id, outcome, static_cast<std::uint32_t>(outcome.exit.to_wait())});
    }
    own(event.token, job->id);
    if (std::holds_alternative<model::Pending>(job->phase) || is_configuring(*job)) {
        reply(event.token, reply::Submitted{job->id, {}}, false);
    } else {
        reply(event.token, reply::Granted{job->id}, false);
    }
}

void Cluster::Impl::on(const event::WaitForEnd& event) {
    const Job* job = find_job(event.job);
    const auto array = arrays_.find(event.job);
    if (job == nullptr && array == arrays_.end()) return refuse(event.token, Errc::InvalidJobId);
    const Job& any = job != nullptr ? *job : jobs_.at(*array->second.records.begin());
    if (!may_touch(event.caller, any)) return refuse(event.token, Errc::AccessDenied);
    waiters_[event.job].push_back(event.token);
    tokens_[event.token].waits_for.insert(event.job);
    answer_waiters(any);
}

void Cluster::Impl::notify_owner(const Job& job, reply::OwnerNotice::Kind kind,
                                 const std::string& node) {
    const JobSide* own_side = find_side(job.id);
    if (own_side == nullptr || !own_side->owner) return;
    reply(*own_side->owner, reply::OwnerNotice{job.id, kind, node}, false);
}

// Tells those who wait for this job, or for the array whose last element it was.
void Cluster::Impl::answer_waiters(const Job& job) {
    if (!std::holds_alternative<model::Ended>(job.phase)) return;
    const model::Outcome outcome = *model::outcome_of(job);
    const auto status = static_cast<std::uint32_t>(outcome.exit.to_wait());
    if (const JobSide* own_side = find_side(job.id); own_side && own_side->owner) {
        const Token token = *own_side->owner;
        reply(token, reply::JobEnded{job.id, outcome, status});
        drop_token(token, job.id);
    }
    const auto answer = [&](JobId id, std::uint32_t worst) {
        const auto found = waiters_.find(id);
        if (found == waiters_.end()) return;
        const std::vector<Token> tokens = std::move(found->second);
        waiters_.erase(found);
        for (const Token token : tokens) {
            reply(token, reply::JobEnded{id, outcome, worst});
            drop_token(token, id);
        }
    };
    if (!job.array) return answer(job.id, status);
    const ArraySide& array = arrays_.at(job.array->array_id);
    // The record with the array's own id stands for the array.
    if (job.id != job.array->array_id) answer(job.id, status);
    const auto ended = [&](JobId id) {
        return std::holds_alternative<model::Ended>(jobs_.at(id).phase);
    };
    if (!array.pending.empty() || array.running > 0) return;
    if (std::ranges::all_of(array.records, ended)) {
        answer(job.array->array_id, static_cast<std::uint32_t>(array.worst_wait));
    }
}

void Cluster::Impl::on(const event::TokenGone& event) {
    const auto found = tokens_.find(event.token);
    if (found == tokens_.end()) return;
    const TokenRole role = std::move(found->second);
    tokens_.erase(found);
    for (const JobId id : role.waits_for) {
        const auto waiting = waiters_.find(id);
        if (waiting == waiters_.end()) continue;
        std::erase(waiting->second, event.token);
        if (waiting->second.empty()) waiters_.erase(waiting);
    }
    for (const JobId id : role.steps_of) {
        if (JobSide* own_side = find_side(id)) {
            std::erase_if(own_side->waiting_steps, [&](const WaitingStep& step) {
                return step.request.token == event.token;
            });
        }
    }
    for (const JobId id : role.ends_of) {
        if (JobSide* own_side = find_side(id)) {
            std::erase_if(own_side->watchers,
                          [&](const StepWatcher& watcher) { return watcher.token == event.token; });
        }
    }
    for (const JobId id : role.owns) {
        JobSide* own_side = find_side(id);
        Job* job = find_job(id);
        if (job == nullptr || own_side == nullptr || own_side->owner != event.token) continue;
        own_side->owner.reset();
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
    if (!may_touch(event.caller, *job)) return refuse(event.token, Errc::AccessDenied);
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
