// eligibility.cpp: whether a pending job stands in the queue, and if it does not, the reason people
// see.

#include <algorithm>

#include "core/cluster/cluster_impl.hpp"
#include "core/cluster/het_together.hpp"

namespace switchyard::core {

using model::Reason;

// Reasons are derived: they are shown from memory and stored only along with real changes.
void Cluster::Impl::set_reason(Job& job, Reason reason, std::string detail) {
    auto& pending = std::get<model::Pending>(job.phase);
    pending.reason = reason;
    pending.detail = std::move(detail);
    if (job.het && job.het->offset == 0) share_reason(job);
}

void Cluster::Impl::unqueue(JobId id) {
    queue_.remove(id);
    leave_license_line(id);
}

sched::QueueKey Cluster::Impl::key_of(const Job& job, const model::Partition& partition) const {
    const std::uint32_t sequence = job.array ? job.array->array_id.value : job.id.value;
    return {partition.priority_tier, job.priority, sequence, job.id};
}

namespace {

Reason partition_reason(const model::Partition& partition) {
    switch (partition.state) {
        case model::PartitionState::Down:
            return Reason::PartitionDown;
        case model::PartitionState::Inactive:
            return Reason::PartitionInactive;
        case model::PartitionState::Up:
        case model::PartitionState::Drain:
            return Reason::None;
    }
    return Reason::None;
}

}  // namespace

void Cluster::Impl::enqueue(const Job& job, const std::vector<PartitionIndex>& open) {
    if (job.het) return together_->enqueue(job);
    std::optional<Seconds> limit;
    if (job.spec->time_limit && !job.spec->time_limit->unlimited)
        limit = job.spec->time_limit->seconds;
    for (const PartitionIndex index : open) {
        const sched::QueueKey key = key_of(job, partitions_[index]);
        queue_.add(key, index, shape_for(*job.spec, index), limit, pool_);
        joined_queue(key);
    }
}

// Behind the end of the plan there is nothing in it to change; behind those in it, only to add.
void Cluster::Impl::joined_queue(sched::QueueKey key) {
    preempt_is_stale_ = true;
    const auto& last = pool_.reservations().last_key();
    const bool behind = last && *last < key;
    if (!plan_end_ || key < *plan_end_) (behind ? plan_is_short_ : plan_is_stale_) = true;
}

// Those it could run in now; and what is wrong with the first that it cannot.
std::vector<PartitionIndex> Cluster::Impl::open_partitions(const JobSpec& spec,
                                                           Reason& first_problem) const {
    std::vector<PartitionIndex> open;
    for (const std::string& name : spec.partitions) {
        const auto index = partition_index(name);
        Reason problem = Reason::PartitionDown;
        if (index) {
            problem = partition_reason(partitions_[*index]);
            if (problem == Reason::None)
                problem = limit_problem(spec, partitions_[*index]).value_or(Reason::None);
            if (problem == Reason::None) open.push_back(*index);
        }
        if (first_problem == Reason::None) first_problem = problem;
    }
    return open;
}

bool Cluster::Impl::is_overdue(const Job& job) const {
    return job.spec->deadline && *job.spec->deadline <= now_;
}

// Decides anew about a pending job: in the queue, or out of it with a reason. Cheap enough to be
// called whenever anything about it may have changed.
void Cluster::Impl::review(Job& job) {
    auto* pending = std::get_if<model::Pending>(&job.phase);
    if (pending == nullptr) return;
    // Before all else: whatever it waits for besides, it does not wait beyond its deadline.
    if (is_overdue(job))
        return end_pending(job, outcome_without_exit(model::JobState::Deadline, Reason::DeadLine));
    if (review_follower(job)) return;
    leave_license_line(job.id);
    const auto out = [&](Reason reason, std::string detail = {}) {
        if (queue_.contains(job.id)) {
            unqueue(job.id);
            drop_reservation(job.id);
        }
        pending->planned_start.reset();
        pending->planned_nodes.clear();
        set_reason(job, reason, std::move(detail));
        retime(job);
    };
    // Judged even while it is held: the record it waits for may be forgotten before it is released.
    auto verdict = model::DependencyStatus::Fulfilled;
    if (!job.spec->dependency.empty()) verdict = judge(job);
    if (verdict == model::DependencyStatus::Failed &&
        (settings_.kill_invalid_dependency || job.spec->kill_on_invalid_dependency)) {
        mail(job, model::MailEvent::InvalidDepend);
        return end_pending(job, outcome_without_exit(model::JobState::Cancelled,
                                                     Reason::DependencyNeverSatisfied));
    }
    if (pending->hold != model::Hold::None || job.priority == 0) {
        const bool kept = pending->reason == Reason::JobLaunchFailure ||
                          pending->reason == Reason::ReservationDeleted;
        if (kept) return out(pending->reason, pending->detail);
        return out(pending->hold == model::Hold::User ? Reason::JobHeldUser : Reason::JobHeldAdmin);
    }
    if (verdict == model::DependencyStatus::Failed) return out(Reason::DependencyNeverSatisfied);
    if (verdict == model::DependencyStatus::Unfulfilled) return out(Reason::Dependency);
    if (pending->eligible_at > now_) {
        const bool resting = pending->reason == Reason::WaitingForRequeue;
        return out(resting ? Reason::WaitingForRequeue : Reason::BeginTime);
    }
    if (waits_for_journals(job))
        return out(Reason::SystemFailure,
                   "SystemFailure, restored from a backup: waits for nodes to say what they ran");
    Reason first_problem = Reason::None;
    const std::vector<PartitionIndex> open = open_partitions(*job.spec, first_problem);
    if (open.empty())
        return out(first_problem == Reason::None ? Reason::PartitionDown : first_problem);
    if (throttled(job)) return out(Reason::JobArrayTaskLimit);
    if (const auto problem = component_problem(job)) return out(problem->first, problem->second);
    if (const auto opens = opens_at(*job.spec)) {
        out(Reason::Reservation);
        pending->planned_start = opens;
        if (job.het) share_reason(job);
        return;
    }
    if (!has_licenses(job)) {
        out(Reason::Licenses);
        return wait_for_licenses(job);
    }

    // A plan for its nodes takes the place of what was foreseen without one.
    if (pending->reason == Reason::Reservation || pending->reason == Reason::Licenses)
        pending->planned_start.reset();
    // What it waited for is over only now.
    if (pending->reason == Reason::Dependency || pending->reason == Reason::JobHeldUser ||
        pending->reason == Reason::JobHeldAdmin || pending->reason == Reason::ReservationDeleted) {
        pending->eligible_at = now_;
        touch(job);
    }
    unqueue(job.id);
    drop_reservation(job.id);
    enqueue(job, open);
    set_reason(job, Reason::None);
    fresh_.push_back(job.id);
    retime(job);
}

}  // namespace switchyard::core
