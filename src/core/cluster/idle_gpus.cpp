// idle_gpus.cpp: a job that holds cards and does not use them is flagged, and the site may let it
// be told, cancelled or queued again.

#include "core/cluster/idle_gpus.hpp"

#include <algorithm>

#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {
namespace {

bool has_cards(const model::NodeGrant& grant) {
    return std::ranges::any_of(grant.gres, [](const model::GresGrant& gres) {
        return !gres.shares.empty() || (gres.name == "gpu" && gres.count > 0);
    });
}

// Since when all of its cards stand idle; none: some are in use.
std::optional<Instant> idle_since(const model::Allocation& allocation,
                                  const std::map<std::string, Instant>& idle) {
    std::optional<Instant> since;
    for (const model::NodeGrant& grant : allocation.nodes) {
        if (!has_cards(grant)) continue;
        const auto found = idle.find(grant.node);
        if (found == idle.end()) return std::nullopt;
        since = std::max(since.value_or(found->second), found->second);
    }
    return since;
}

}  // namespace

std::optional<Instant> IdleGpus::heard(const Job& job, const std::string& node,
                                       std::optional<Instant> since) {
    Idle& idle = idle_[job.id];
    if (idle.attempt != job.attempt) idle.nodes.clear();
    idle.attempt = job.attempt;
    if (since) {
        idle.nodes[node] = *since;
    } else {
        idle.nodes.erase(node);
    }
    return idle_since(*model::allocation_of(job), idle.nodes);
}

void Cluster::Impl::on(const event::GpuIdle& event) {
    Job* job = find_job(event.job);
    auto* running = job != nullptr ? std::get_if<model::Running>(&job->phase) : nullptr;
    if (running == nullptr || job->attempt != event.attempt || !speaks_for(event.node, *job))
        return;
    const auto since = idle_gpus_.heard(*job, event.node, event.since);
    if (since.has_value() == running->gpus_idle_since.has_value()) return;
    running->gpus_idle_since = since;
    touch(*job);
    if (since) gpus_stand_idle(*job);
}

// The flag has just been set.
void Cluster::Impl::gpus_stand_idle(Job& job) {
    using Action = Settings::IdleGpus;
    if (settings_.idle_gpus == Action::Flag) return;
    mail_.send(job, model::MailEvent::GpuIdle);
    if (settings_.idle_gpus == Action::Mail) return;
    using Next = model::Completing::Next;
    const bool again = settings_.idle_gpus == Action::Requeue &&
                       job.spec->kind == model::JobKind::Batch &&
                       job.spec->requeue.value_or(settings_.requeue_by_default);
    waiters_.notify_owner(job, reply::OwnerNotice::Kind::Cancelled);
    model::Outcome outcome =
        outcome_without_exit(again ? model::JobState::Requeued : model::JobState::Cancelled,
                             model::Reason::GpuIdle, settings_.operator_uid);
    if (again) outcome.cancelled_by.reset();
    end_run(job, outcome, again ? EndCause::Requeued : EndCause::Cancelled, settings_.kill_wait,
            again ? Next::Requeue : Next::End);
}

}  // namespace switchyard::core
