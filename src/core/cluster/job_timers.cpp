// job_timers.cpp: see job_timers.hpp.

#include "core/cluster/job_timers.hpp"

#include <algorithm>

namespace switchyard::core {
namespace {

struct MailMark {
    int percent;
    model::MailEvent event;
    std::uint8_t bit;
};
constexpr MailMark kMailMarks[] = {{50, model::MailEvent::TimeLimit50, 1},
                                   {80, model::MailEvent::TimeLimit80, 2},
                                   {90, model::MailEvent::TimeLimit90, 4},
                                   {100, model::MailEvent::TimeLimit, 8}};

Instant mark_at(const model::Running& run, int percent) {
    const auto length = *run.ends_by - run.started;
    return run.started + length * percent / 100;
}

void consider(std::optional<Instant>& next, Instant at) {
    if (!next || at < *next) next = at;
}

}  // namespace

std::optional<Instant> JobTimers::pending_due(const Job& job, const model::Pending& pending) const {
    std::optional<Instant> next;
    if (pending.hold == model::Hold::None && pending.eligible_at > world_.now)
        consider(next, pending.eligible_at);
    if (job.spec->deadline) consider(next, std::max(world_.now, *job.spec->deadline));
    if (job.spec->dependency.empty()) return next;
    std::optional<Instant> look_again;
    for (const model::DependencyTerm& term : job.spec->dependency.terms) {
        if (term.kind == model::DependencyKind::After)
            dependencies_.judge_term(job, term, look_again);
    }
    if (look_again) consider(next, *look_again);
    return next;
}

std::optional<Instant> JobTimers::running_due(const Job& job, const model::Running& run) const {
    std::optional<Instant> next;
    if (run.preempted && run.preempted->grace_ends) consider(next, *run.preempted->grace_ends);
    const auto deadline = world_.deadline_of(job);
    if (!deadline) return next;
    const bool batch = job.spec->kind == model::JobKind::Batch && !run.configuring;
    consider(next, batch ? *deadline + world_.settings.kill_wait + kBackupSlack : *deadline);
    const auto known = mailed_.find(job.id);
    const std::uint8_t mailed = known == mailed_.end() ? 0 : known->second;
    for (const MailMark& mark : kMailMarks) {
        if (model::has(job.spec->mail_types, mark.event) && (mailed & mark.bit) == 0)
            consider(next, mark_at(run, mark.percent));
    }
    return next;
}

// When the controller must look at this job again, if nothing else happens.
std::optional<Instant> JobTimers::due(const Job& job) const {
    if (const auto* pending = std::get_if<model::Pending>(&job.phase))
        return pending_due(job, *pending);
    if (const auto* run = std::get_if<model::Running>(&job.phase)) return running_due(job, *run);
    if (const auto* completing = std::get_if<model::Completing>(&job.phase)) {
        if (completing->epilog) return std::nullopt;
        const Instant patience = completing->ended + world_.settings.kill_wait + kEndJobRepeat;
        return std::max(patience, world_.now + kEndJobRepeat);
    }
    if (const auto* ended = std::get_if<model::Ended>(&job.phase))
        return std::max(world_.now, ended->ended + world_.settings.min_job_age);
    return std::nullopt;
}

void JobTimers::observe(const Transition& transition) {
    const Job& job = transition.job;
    switch (transition.cause) {
        case Cause::Started:
            return retime(job);
        case Cause::Requeued:
        case Cause::Reopened:
            mailed_.erase(job.id);
            return;
        case Cause::Ended:
            mailed_.erase(job.id);
            return retime(job);
        case Cause::Withdrawn:
            world_.timers.set({TimerKey::Kind::Job, job.id.value}, std::nullopt);
            return;
        default:
            return;
    }
}

void JobTimers::retime(const Job& job) {
    world_.timers.set({TimerKey::Kind::Job, job.id.value}, due(job));
    if (!triggers_.empty()) triggers_.retime(job.id);
}

std::vector<model::MailEvent> JobTimers::take_marks(const Job& job) {
    std::vector<model::MailEvent> events;
    const model::Running& run = std::get<model::Running>(job.phase);
    std::uint8_t& mailed = mailed_[job.id];
    for (const MailMark& mark : kMailMarks) {
        if ((mailed & mark.bit) != 0 || mark_at(run, mark.percent) > world_.now) continue;
        mailed |= mark.bit;
        events.push_back(mark.event);
    }
    return events;
}

}  // namespace switchyard::core
