// timing.cpp: everything that happens because time has passed. Each job has one timer, set to the
// next thing that is due for it.

#include <algorithm>

#include "core/cluster/cluster_impl.hpp"

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

}  // namespace

std::optional<Instant> Cluster::Impl::deadline_of(const Job& job) const {
    const model::Running* run = model::run_of(job);
    if (run == nullptr || !run->ends_by) return std::nullopt;
    const model::Partition* partition = partition_of(job);
    std::uint32_t over = settings_.over_time_limit.value_or(0);
    if (partition != nullptr && partition->over_time_limit) over = *partition->over_time_limit;
    return *run->ends_by + Minutes{over};
}

// When the controller must look at this job again, if nothing else happens.
std::optional<Instant> Cluster::Impl::due(const Job& job) const {
    std::optional<Instant> next;
    const auto consider = [&](Instant at) {
        if (!next || at < *next) next = at;
    };
    if (const auto* pending = std::get_if<model::Pending>(&job.phase)) {
        if (pending->hold == model::Hold::None && pending->eligible_at > now_)
            consider(pending->eligible_at);
        if (job.spec->deadline) consider(std::max(now_, *job.spec->deadline));
        if (!job.spec->dependency.empty()) {
            std::optional<Instant> look_again;
            for (const model::DependencyTerm& term : job.spec->dependency.terms) {
                if (term.kind == model::DependencyKind::After) judge_term(job, term, look_again);
            }
            if (look_again) consider(*look_again);
        }
    } else if (const auto* run = std::get_if<model::Running>(&job.phase)) {
        if (run->preempted && run->preempted->grace_ends) consider(*run->preempted->grace_ends);
        if (const auto deadline = deadline_of(job)) {
            const bool batch = job.spec->kind == model::JobKind::Batch && !run->configuring;
            consider(batch ? *deadline + settings_.kill_wait + kBackupSlack : *deadline);
            const auto own_side = sides_.find(job.id);
            const std::uint8_t mailed = own_side == sides_.end() ? 0 : own_side->second.mailed;
            for (const MailMark& mark : kMailMarks) {
                if (model::has(job.spec->mail_types, mark.event) && (mailed & mark.bit) == 0) {
                    consider(mark_at(*run, mark.percent));
                }
            }
        }
    } else if (const auto* completing = std::get_if<model::Completing>(&job.phase)) {
        if (completing->epilog) return std::nullopt;
        const Instant patience = completing->ended + settings_.kill_wait + kEndJobRepeat;
        consider(std::max(patience, now_ + kEndJobRepeat));
    } else if (const auto* ended = std::get_if<model::Ended>(&job.phase)) {
        consider(std::max(now_, ended->ended + settings_.min_job_age));
    }
    return next;
}

void Cluster::Impl::retime(const Job& job) {
    timers_.set({TimerKey::Kind::Job, job.id.value}, due(job));
    if (!triggers_.all.empty()) retime_triggers(job.id);
}

void Cluster::Impl::running_timer(Job& job) {
    const model::Running& run = std::get<model::Running>(job.phase);
    if (run.preempted && run.preempted->grace_ends && *run.preempted->grace_ends <= now_)
        return planning_.preemption.end(job);
    if (!run.ends_by) return retime(job);
    for (const MailMark& mark : kMailMarks) {
        JobSide& own_side = side(job.id);
        if ((own_side.mailed & mark.bit) != 0 || mark_at(run, mark.percent) > now_) continue;
        own_side.mailed |= mark.bit;
        mail(job, mark.event);
    }
    // For scripts the stepd keeps the limit, and this is only the backup; an allocation without a
    // script has nobody else.
    const bool batch = job.spec->kind == model::JobKind::Batch && !run.configuring;
    const Instant limit =
        *deadline_of(job) + (batch ? settings_.kill_wait + kBackupSlack : Seconds{0});
    if (limit > now_) return retime(job);
    // A silent node may have the true end to report: that is waited for, or the node is given up.
    const auto first = node_index(run.allocation.nodes.front().node);
    if (batch && first && !nodes_[*first].responding && !nodes_[*first].down) {
        return timers_.set({TimerKey::Kind::Job, job.id.value}, now_ + kBackupSlack);
    }
    model::Outcome outcome;
    outcome.state = model::JobState::Timeout;
    outcome.reason = model::Reason::TimeLimit;
    outcome.exit.signal = 15;
    notify_owner(job, reply::OwnerNotice::Kind::TimeLimit);
    end_run(job, outcome, EndCause::TimeLimit, settings_.kill_wait, model::Completing::Next::End);
}

void Cluster::Impl::job_timer(Job& job) {
    if (std::holds_alternative<model::Pending>(job.phase)) return review(job);
    if (std::holds_alternative<model::Running>(job.phase)) return running_timer(job);
    if (const auto* completing = std::get_if<model::Completing>(&job.phase)) {
        for (const std::string& node : completing->dirty_nodes) {
            if (!nodes_[*node_index(node)].responding) continue;
            emit(effect::EndJob{node, job.id, job.attempt, EndCause::Finished, Seconds{0}});
        }
        return retime(job);
    }
    if (const auto* ended = std::get_if<model::Ended>(&job.phase)) {
        // Kept while its last change is not written yet, and while somebody's dependency may ask
        // for it.
        const bool asked_for = dependents_.contains(job.id) ||
                               (job.array && dependents_.contains(job.array->array_id));
        if (changes_.jobs.contains(job.id) || asked_for ||
            ended->ended + settings_.min_job_age > now_) {
            return timers_.set({TimerKey::Kind::Job, job.id.value},
                               now_ + std::max(settings_.min_job_age, Seconds{1}));
        }
        forget(job.id);
    }
}

// Steps that a node did not list and whose srun did not come back to launch them again.
void Cluster::Impl::give_up_doubted(JobId id) {
    Job* job = find_job(id);
    JobSide* own_side = find_side(id);
    if (job == nullptr || own_side == nullptr) return;
    const auto doubted = std::exchange(own_side->doubted, {});
    for (const auto& [step_id, node] : doubted) {
        const StepKey key{id, job->attempt, step_id};
        const auto step = steps_.find(key);
        if (step == steps_.end() || step->second.end) continue;
        if (std::ranges::find(step->second.running_nodes, node) == step->second.running_nodes.end())
            continue;
        emit(effect::EndStep{node, key, EndCause::Finished});
        StepReport report;
        report.key = key;
        report.lost = true;
        step_node_ended(*job, step->second, node, report);
    }
    retry_waiting_steps(id);
}

}  // namespace switchyard::core
