// preemptable.cpp: who may be preempted, from when on, and who is leaving.

#include "base/assert.hpp"
#include "core/cluster/planning/preemption.hpp"

namespace switchyard::core {
namespace {

bool leaves_with_grace(const Job& job) {
    const auto* run = std::get_if<model::Running>(&job.phase);
    return run != nullptr && run->preempted && run->preempted->grace_ends;
}

}  // namespace

void Preemption::clear() {
    preemptable_.clear();
    leaving_.clear();
}

model::PreemptMode Preemption::mode_of(const Job& job) const {
    const model::Partition* partition = world_.partition_of(job);
    if (!world_.settings.preempt.by_tier || partition == nullptr) return model::PreemptMode::Off;
    return partition->preempt_mode.value_or(world_.settings.preempt.mode);
}

// From when on the job of this run may be preempted; none: never.
std::optional<Instant> Preemption::preemptable_from(const Job& job, Instant started) const {
    const model::PreemptMode mode = mode_of(job);
    const auto& exempt = world_.settings.preempt.min_exempt_priority;
    if (mode == model::PreemptMode::Off || (exempt && job.priority >= *exempt)) return std::nullopt;
    // Who is only suspended loses nothing.
    return mode == model::PreemptMode::Suspend ? started : started + world_.settings.preempt.exempt;
}

// What people are told of it follows the settings.
void Preemption::renew(Job& job) {
    auto* suspended = std::get_if<model::Suspended>(&job.phase);
    auto* run = suspended != nullptr ? &suspended->run : std::get_if<model::Running>(&job.phase);
    if (run == nullptr) return;
    const auto from = preemptable_from(job, run->started);
    if (run->preemptable_at == from) return;
    run->preemptable_at = from;
    world_.touch(job);
}

// Called whenever a job takes hold of its nodes, or does so in another way.
void Preemption::index_run(const Job& job) {
    is_stale_ = true;
    preemptable_.remove(job.id);
    lending_.index(job);
    leaving_.erase(job.id);
    if (std::holds_alternative<model::Completing>(job.phase) || leaves_with_grace(job)) {
        leaving_.insert(job.id);
        return;
    }
    const auto* run = std::get_if<model::Running>(&job.phase);
    const auto partition = world_.partition_index(job.partition);
    if (run == nullptr || !partition || !preemptable_from(job, run->started)) return;
    const std::int64_t priority = job.priority, age = -unix_seconds(run->started);
    const bool youngest = world_.settings.preempt.youngest_first;
    preemptable_.put({world_.partitions[*partition].priority_tier, youngest ? age : priority,
                      youngest ? priority : age, job.id, *partition});
}

// Its run is over, and nothing but its remains are in anybody's way.
void Preemption::run_is_over(JobId job) {
    preemptable_.remove(job);
    lending_.forget(job);
    drop_hold(job);
    leaving_.insert(job);
}

// Nothing of it is left.
void Preemption::has_left(JobId job, const model::Running& run) {
    leaving_.erase(job);
    if (run.preempted) holds_.victim_left(run.preempted->by, job);
}

void Preemption::drop_hold(JobId job) {
    if (!holds_.drop(job)) return;
    is_stale_ = true;
    backfill_.capacity_changed();
}

void Preemption::look_again_at(Instant at) {
    if (!again_ || at < *again_) again_ = at;
}

// Part of check_invariants().
void Preemption::check() const {
    for (const auto& [id, hold] : holds_.all()) SY_ASSERT(world_.jobs.contains(id));
    for (const JobId id : leaving_) {
        const Job& job = world_.jobs.at(id);
        SY_ASSERT(std::holds_alternative<model::Completing>(job.phase) || leaves_with_grace(job));
    }
    for (const auto& [id, job] : world_.jobs) {
        const auto* suspended = std::get_if<model::Suspended>(&job.phase);
        const bool lends = suspended != nullptr && suspended->run.preempted &&
                           suspended->run.preempted->lends_cores;
        SY_ASSERT(lends == lending_.contains(id));
        const bool runs = std::holds_alternative<model::Running>(job.phase);
        SY_ASSERT(runs || !preemptable_.contains(id));
        SY_ASSERT(!leaves_with_grace(job) || leaving_.contains(id));
    }
}

}  // namespace switchyard::core
