// eligibility.cpp: see eligibility.hpp.

#include "core/cluster/eligibility.hpp"

#include <algorithm>

#include "core/cluster/cluster_impl.hpp"
#include "core/cluster/partition_limits.hpp"

namespace switchyard::core {

using model::Reason;

// What may keep a pending job out of the queue, in the order in which people are told of it.
constinit const std::array<Eligibility::Gate, 9> Eligibility::kGates{
    &Eligibility::hold,
    &Eligibility::dependency,
    &Eligibility::begin_time,
    &Eligibility::journals,
    &Eligibility::partitions,
    &Eligibility::array_throttle,
    &Eligibility::other_components,
    &Eligibility::advance_reservation,
    &Eligibility::licenses,
};

Eligibility::Verdict Eligibility::hold(Candidate& candidate) const {
    const model::Pending& pending = candidate.pending;
    if (pending.hold == model::Hold::None && candidate.job.priority != 0) return std::nullopt;
    const bool kept =
        pending.reason == Reason::JobLaunchFailure || pending.reason == Reason::ReservationDeleted;
    if (kept) return Bar{pending.reason, pending.detail};
    const bool user = pending.hold == model::Hold::User;
    return Bar{user ? Reason::JobHeldUser : Reason::JobHeldAdmin};
}

Eligibility::Verdict Eligibility::dependency(Candidate& candidate) const {
    if (candidate.dependency == model::DependencyStatus::Failed)
        return Bar{Reason::DependencyNeverSatisfied};
    if (candidate.dependency == model::DependencyStatus::Unfulfilled)
        return Bar{Reason::Dependency};
    return std::nullopt;
}

Eligibility::Verdict Eligibility::begin_time(Candidate& candidate) const {
    if (candidate.pending.eligible_at <= world_.now) return std::nullopt;
    const bool resting = candidate.pending.reason == Reason::WaitingForRequeue;
    return Bar{resting ? Reason::WaitingForRequeue : Reason::BeginTime};
}

Eligibility::Verdict Eligibility::journals(Candidate& candidate) const {
    if (!restore_.waits_for_journals(candidate.job)) return std::nullopt;
    return Bar{Reason::SystemFailure,
               "SystemFailure, restored from a backup: waits for nodes to say what they ran"};
}

Eligibility::Verdict Eligibility::partitions(Candidate& candidate) const {
    Reason problem = Reason::None;
    candidate.open = open_partitions(*candidate.job.spec, problem);
    if (!candidate.open.empty()) return std::nullopt;
    return Bar{problem == Reason::None ? Reason::PartitionDown : problem};
}

Eligibility::Verdict Eligibility::array_throttle(Candidate& candidate) const {
    if (!arrays_.throttled(candidate.job)) return std::nullopt;
    return Bar{Reason::JobArrayTaskLimit};
}

Eligibility::Verdict Eligibility::other_components(Candidate& candidate) const {
    if (!candidate.job.het) return std::nullopt;
    for (const JobId id : hets_.live_components(candidate.job)) {
        if (auto bar = component(world_.jobs.at(id))) return bar;
    }
    return std::nullopt;
}

// Why one component keeps all of them out.
Eligibility::Verdict Eligibility::component(const Job& job) const {
    const auto* pending = std::get_if<model::Pending>(&job.phase);
    // Its last run is not over everywhere.
    if (pending == nullptr) return Bar{Reason::BeginTime};
    if (pending->hold != model::Hold::None || job.priority == 0) {
        const bool user = pending->hold == model::Hold::User;
        return Bar{user ? Reason::JobHeldUser : Reason::JobHeldAdmin};
    }
    if (pending->eligible_at > world_.now) return Bar{Reason::BeginTime};
    std::optional<Reason> problem;
    bool open = false;
    for (const std::string& name : job.spec->partitions) {
        const auto index = world_.partition_index(name);
        if (!index) continue;
        const model::Partition& partition = world_.partitions[*index];
        const auto limit = limit_problem(world_, *job.spec, partition);
        const bool up = partition.state == model::PartitionState::Up ||
                        partition.state == model::PartitionState::Drain;
        open |= up && !limit;
        if (!problem) problem = up ? limit : Reason::PartitionDown;
    }
    if (!open) return Bar{problem.value_or(Reason::PartitionDown)};
    if (is_follower(job) && calendar_.opens_at(*job.spec)) return Bar{Reason::Reservation};
    return std::nullopt;
}

Eligibility::Verdict Eligibility::advance_reservation(Candidate& candidate) const {
    const auto opens = calendar_.opens_at(*candidate.job.spec);
    if (!opens) return std::nullopt;
    return Bar{Reason::Reservation, {}, opens};
}

Eligibility::Verdict Eligibility::licenses(Candidate& candidate) const {
    if (licenses_.has_for(candidate.job)) return std::nullopt;
    return Bar{Reason::Licenses};
}

// Decides anew about a pending job: in the queue, or out of it with a reason. Cheap enough to be
// called whenever anything about it may have changed.
void Eligibility::review(Job& job) {
    auto* pending = std::get_if<model::Pending>(&job.phase);
    if (pending == nullptr) return;
    const Cluster::Impl::Operation operation(cluster_);
    // Before all else: whatever it waits for besides, it does not wait beyond its deadline.
    if (is_overdue(job))
        return cluster_.end_pending(
            job, outcome_without_exit(model::JobState::Deadline, Reason::DeadLine));
    if (cluster_.review_follower(job)) return;
    licenses_.leave_line(job.id);
    Candidate candidate{job, *pending, model::DependencyStatus::Fulfilled, {}};
    // Judged even while it is held: the record it waits for may be forgotten before it is released.
    if (!job.spec->dependency.empty()) {
        cluster_.settle_correspondence(job);
        candidate.dependency = dependencies_.judge(job);
    }
    if (candidate.dependency == model::DependencyStatus::Failed &&
        (world_.settings.kill_invalid_dependency || job.spec->kill_on_invalid_dependency)) {
        mail_.send(job, model::MailEvent::InvalidDepend);
        return cluster_.end_pending(job, outcome_without_exit(model::JobState::Cancelled,
                                                              Reason::DependencyNeverSatisfied));
    }
    for (const Gate gate : kGates) {
        if (auto bar = (this->*gate)(candidate)) return keep_out(job, *std::move(bar));
    }
    let_in(job, candidate.open);
}

void Eligibility::keep_out(Job& job, Bar bar) {
    auto& pending = std::get<model::Pending>(job.phase);
    if (planning_.queue.contains(job.id)) {
        unqueue(job.id);
        planning_.backfill.drop(job.id);
    }
    pending.planned_start.reset();
    pending.planned_nodes.clear();
    const bool waits_for_licenses = bar.reason == Reason::Licenses;
    hets_.set_reason(job, bar.reason, std::move(bar.detail));
    job_timers_.retime(job);
    if (bar.opens) {
        pending.planned_start = bar.opens;
        if (job.het) hets_.share_reason(job);
    }
    if (waits_for_licenses) licenses_.wait(job);
}

void Eligibility::let_in(Job& job, const std::vector<PartitionIndex>& open) {
    auto& pending = std::get<model::Pending>(job.phase);
    // A plan for its nodes takes the place of what was foreseen without one.
    if (pending.reason == Reason::Reservation || pending.reason == Reason::Licenses)
        pending.planned_start.reset();
    // What it waited for is over only now.
    if (pending.reason == Reason::Dependency || pending.reason == Reason::JobHeldUser ||
        pending.reason == Reason::JobHeldAdmin || pending.reason == Reason::ReservationDeleted) {
        pending.eligible_at = world_.now;
        world_.touch(job);
    }
    unqueue(job.id);
    planning_.backfill.drop(job.id);
    enqueue(job, open);
    hets_.set_reason(job, Reason::None);
    planning_.reasons.add(job.id);
    job_timers_.retime(job);
}

void Eligibility::unqueue(JobId id) {
    planning_.queue.remove(id);
    licenses_.leave_line(id);
}

void Eligibility::enqueue(const Job& job, const std::vector<PartitionIndex>& open) {
    if (job.het) {
        for (const auto& [index, stand] : planning_.het.stands_of(job))
            add(key_of(job, world_.partitions[index]), index, stand.first, stand.second);
        return;
    }
    std::optional<Seconds> limit;
    if (job.spec->time_limit && !job.spec->time_limit->unlimited)
        limit = job.spec->time_limit->seconds;
    for (const PartitionIndex index : open)
        add(key_of(job, world_.partitions[index]), index, calendar_.shape_for(*job.spec, index),
            limit);
}

void Eligibility::add(sched::QueueKey key, PartitionIndex partition, const sched::Shape& shape,
                      std::optional<Seconds> limit) {
    planning_.queue.add(key, partition, shape, limit, world_.pool);
    planning_.job_queued(key);
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

// Those it could run in now; and what is wrong with the first that it cannot.
std::vector<PartitionIndex> Eligibility::open_partitions(const JobSpec& spec,
                                                         Reason& first_problem) const {
    std::vector<PartitionIndex> open;
    for (const std::string& name : spec.partitions) {
        const auto index = world_.partition_index(name);
        Reason problem = Reason::PartitionDown;
        if (index) {
            problem = partition_reason(world_.partitions[*index]);
            if (problem == Reason::None)
                problem =
                    limit_problem(world_, spec, world_.partitions[*index]).value_or(Reason::None);
            if (problem == Reason::None) open.push_back(*index);
        }
        if (first_problem == Reason::None) first_problem = problem;
    }
    return open;
}

bool Eligibility::is_overdue(const Job& job) const {
    return job.spec->deadline && *job.spec->deadline <= world_.now;
}

}  // namespace switchyard::core
