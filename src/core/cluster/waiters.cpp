// waiters.cpp: see waiters.hpp.

#include "core/cluster/waiters.hpp"

#include <algorithm>
#include <utility>

#include "core/cluster/job_facts.hpp"

namespace switchyard::core {

void Waiters::on(const event::Attach& event) {
    Job* job = world_.find_job(event.job);
    if (job == nullptr) return world_.refuse(event.token, Errc::InvalidJobId);
    if (!world_.rights_of(event.caller).may_change_job(job->spec->uid))
        return world_.refuse(event.token, Errc::AccessDenied);
    if (job->spec->kind != model::JobKind::Allocation)
        return world_.refuse(event.token, Errc::InvalidJobId);
    if (std::holds_alternative<model::Ended>(job->phase)) {
        const model::Outcome& outcome = *model::outcome_of(*job);
        return world_.reply(
            event.token,
            reply::JobEnded{job->id, outcome, static_cast<std::uint32_t>(outcome.exit.to_wait())});
    }
    own(event.token, job->id);
    if (std::holds_alternative<model::Pending>(job->phase) || is_configuring(*job)) {
        world_.reply(event.token, reply::Submitted{job->id, {}}, false);
    } else {
        world_.reply(event.token, reply::Granted{job->id}, false);
    }
}

void Waiters::on(const event::WaitForEnd& event) {
    const Job* job = world_.find_job(event.job);
    const ArraySide* array = arrays_.find(event.job);
    if (job == nullptr && array == nullptr) return world_.refuse(event.token, Errc::InvalidJobId);
    const Job& any = job != nullptr ? *job : world_.jobs.at(*array->records.begin());
    if (!world_.rights_of(event.caller).may_change_job(any.spec->uid))
        return world_.refuse(event.token, Errc::AccessDenied);
    waiters_[event.job].push_back(event.token);
    tokens_[event.token].waits_for.insert(event.job);
    answer_waiters(any);
}

std::optional<TokenRole> Waiters::gone(Token token) {
    const auto found = tokens_.find(token);
    if (found == tokens_.end()) return std::nullopt;
    TokenRole role = std::move(found->second);
    tokens_.erase(found);
    for (const JobId id : role.waits_for) {
        const auto waiting = waiters_.find(id);
        if (waiting == waiters_.end()) continue;
        std::erase(waiting->second, token);
        if (waiting->second.empty()) waiters_.erase(waiting);
    }
    for (const JobId id : role.ends_of) {
        const auto watching = watchers_.find(id);
        if (watching == watchers_.end()) continue;
        std::erase_if(watching->second,
                      [&](const StepWatcher& watcher) { return watcher.token == token; });
        if (watching->second.empty()) watchers_.erase(watching);
    }
    return role;
}

void Waiters::load(const Job& job) {
    const bool leaves = std::holds_alternative<model::Completing>(job.phase) ||
                        std::holds_alternative<model::Ended>(job.phase);
    if (leaves || job.spec->kind != model::JobKind::Allocation || job.spec->detached) return;
    world_.timers.set({TimerKey::Kind::Owner, job.id.value},
                      world_.now + world_.settings.owner_grace);
}

void Waiters::observe(const Transition& transition) {
    const Job& job = transition.job;
    switch (transition.cause) {
        case Cause::Submitted:
            return load(job);
        case Cause::Requeued:
        case Cause::Reopened:
            return release_watchers(job.id);
        case Cause::Ended:
            return ended(job);
        case Cause::Withdrawn:
            return withdraw(job.id);
        default:
            return;
    }
}

void Waiters::own(Token token, JobId job) {
    const auto before = owner_of(job);
    if (before && *before != token) drop(*before, job);
    owners_[job] = token;
    tokens_[token].owns.insert(job);
    world_.timers.set({TimerKey::Kind::Owner, job.value}, std::nullopt);
}

std::optional<Token> Waiters::owner_of(JobId job) const {
    const auto found = owners_.find(job);
    return found == owners_.end() ? std::nullopt : std::optional(found->second);
}

bool Waiters::disown(Token token, JobId job) {
    if (owner_of(job) != token) return false;
    owners_.erase(job);
    return true;
}

void Waiters::tell_owner(JobId job, ReplyBody body, bool last) {
    if (const auto owner = owner_of(job)) world_.reply(*owner, std::move(body), last);
}

void Waiters::notify_owner(const Job& job, reply::OwnerNotice::Kind kind, const std::string& node) {
    tell_owner(job.id, reply::OwnerNotice{job.id, kind, node});
}

void Waiters::drop(Token token, JobId job) {
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

void Waiters::watch_steps(Token token, JobId job, std::optional<StepId> step) {
    watchers_[job].push_back({token, step});
    tokens_[token].ends_of.insert(job);
}

void Waiters::step_ended(const StepKey& ended, bool drained) {
    const auto found = watchers_.find(ended.job);
    if (found == watchers_.end()) return;
    std::vector<StepWatcher> still;
    for (const StepWatcher& watcher : std::exchange(found->second, {})) {
        const bool asked_for = !watcher.step || *watcher.step == ended.step;
        const bool last = drained || (watcher.step && asked_for);
        if (asked_for || last) {
            const std::vector<StepKey> keys =
                asked_for ? std::vector{ended} : std::vector<StepKey>{};
            world_.reply(watcher.token, reply::StepEnds{keys}, last);
        }
        if (last) {
            drop(watcher.token, ended.job);
        } else {
            still.push_back(watcher);
        }
    }
    found->second = std::move(still);
    if (found->second.empty()) watchers_.erase(found);
}

void Waiters::release_watchers(JobId job) {
    const auto found = watchers_.find(job);
    if (found == watchers_.end()) return;
    const std::vector<StepWatcher> watchers = std::move(found->second);
    watchers_.erase(found);
    for (const StepWatcher& watcher : watchers) {
        world_.reply(watcher.token, reply::StepEnds{});
        drop(watcher.token, job);
    }
}

void Waiters::answer(JobId id, const model::Outcome& outcome, std::uint32_t worst) {
    const auto found = waiters_.find(id);
    if (found == waiters_.end()) return;
    const std::vector<Token> tokens = std::move(found->second);
    waiters_.erase(found);
    for (const Token token : tokens) {
        world_.reply(token, reply::JobEnded{id, outcome, worst});
        drop(token, id);
    }
}

void Waiters::answer_waiters(const Job& job) {
    if (!std::holds_alternative<model::Ended>(job.phase)) return;
    const model::Outcome outcome = *model::outcome_of(job);
    const auto status = static_cast<std::uint32_t>(outcome.exit.to_wait());
    if (const auto owner = owner_of(job.id)) {
        world_.reply(*owner, reply::JobEnded{job.id, outcome, status});
        drop(*owner, job.id);
    }
    if (!job.array) return answer(job.id, outcome, status);
    const ArraySide& array = arrays_.of(job);
    // The record with the array's own id stands for the array.
    if (job.id != job.array->array_id) answer(job.id, outcome, status);
    const auto has_ended = [&](JobId id) {
        return std::holds_alternative<model::Ended>(world_.jobs.at(id).phase);
    };
    if (!array.pending.empty() || array.running > 0) return;
    if (std::ranges::all_of(array.records, has_ended))
        answer(job.array->array_id, outcome, static_cast<std::uint32_t>(array.worst_wait));
}

void Waiters::ended(const Job& job) {
    answer_waiters(job);
    owners_.erase(job.id);
    world_.timers.set({TimerKey::Kind::Owner, job.id.value}, std::nullopt);
    release_watchers(job.id);
}

void Waiters::withdraw(JobId job) {
    if (const auto owner = owner_of(job)) drop(*owner, job);
    owners_.erase(job);
}

}  // namespace switchyard::core
