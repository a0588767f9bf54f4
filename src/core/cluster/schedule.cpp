// schedule.cpp: one pass over what could start.
//
// Groups of equal jobs are taken in the order of their foremost job. What fits starts; what does
// not is blocked as a group. A job may start before one ahead of it only if it takes nothing from
// the place reserved for that one, so the first job of each partition that others would pass gets a
// reservation before they do.

#include <algorithm>

#include "base/assert.hpp"
#include "core/cluster/cluster_impl.hpp"
#include "core/sched/placement.hpp"
#include "model/hostlist.hpp"

namespace switchyard::core {

using model::Reason;

void Cluster::Impl::schedule(Instant at) {
    now_ = std::max(now_, at);
    ++figures_.main_cycles;
    more_to_do_ = false;
    if (hope_seen_ != hope_epoch_) {
        hope_seen_ = hope_epoch_;
        queue_.wake_all();
    }
    const bool plan_due = settings_.backfill && plan_is_stale_ && queue_.size() > 0 &&
                          next_backfill_ && *next_backfill_ <= now_;
    std::uint32_t attempts = 0;
    const std::uint64_t started_before = figures_.jobs_started;
    const auto run = [&] {
        while (sched::Group* group = queue_.foremost()) {
            if (++attempts > kAttemptsPerPassMax ||
                figures_.jobs_started - started_before > kStartsPerPassMax) {
                more_to_do_ = true;
                return;
            }
            if (!try_start(*group, *group->members.begin())) {
                give_up_hope(*group);
                queue_.block(*group);
            }
        }
    };
    run();
    if (plan_due && !more_to_do_) {
        backfill_pass();
        run();
    }
    figures_.last_depth = attempts;
    figures_.total_depth += attempts;
    figures_.queue_length = queue_.size();
    settle_reasons();
}

bool Cluster::Impl::try_start(sched::Group& group, sched::QueueKey key) {
    bool passes_someone = false;
    for (PartitionIndex p = 0; p < partitions_.size(); ++p) {
        const auto front = queue_.front(p);
        if (!front || front->job == key.job || !(*front < key) ||
            !pool_.overlap(p, group.partition))
            continue;
        if (!settings_.backfill) return false;
        passes_someone |= p == group.partition;
        ensure_reserved(*front, p);
    }
    Job& job = jobs_.at(key.job);
    const sched::View view{.start = now_,
                           .end = now_ + group.limit.value_or(sched::kForever),
                           .key = key,
                           .uid = job.spec->uid};
    const auto picks = sched::place(pool_, group.partition, group.demand, view);
    if (!picks) return false;
    auto allocation = sched::make_allocation(pool_, group.demand, *picks);
    if (!allocation) return false;
    const PartitionIndex partition =
        group.partition;  // The group may be gone when its last job has left.
    if (job.array && !job.array->element && job.array->pending.size() > 1) {
        Job& element = split_element(job, job.array->pending.front());
        start(element, partition, std::move(*allocation), passes_someone);
        if (throttled(job)) review(job);
        return true;
    }
    if (job.array && !job.array->element) {
        job.array->element = job.array->pending.front();
        job.array->pending = {};
    }
    start(job, partition, std::move(*allocation), passes_someone);
    return true;
}

// A group that did not fit: could it, if everything usable were idle? If not, its jobs wait for
// nodes to come back and must not hold up others.
void Cluster::Impl::give_up_hope(sched::Group& group) {
    if (group.hope_checked == hope_epoch_) return;
    group.hope_checked = hope_epoch_;
    const sched::View idle{.empty = true};
    const bool hopeless = !sched::place(pool_, group.partition, group.demand, idle).has_value();
    if (hopeless) {
        std::vector<std::string> missing;
        for (const NodeIndex node : group.demand.required) {
            if (!pool_.node(node).usable) missing.push_back(pool_.node(node).name);
        }
        if (!missing.empty()) {
            group.why = Reason::ReqNodeNotAvail;
            group.why_detail =
                "ReqNodeNotAvail, UnavailableNodes:" + model::compress_hostlist(missing);
        } else {
            group.why = Reason::NodeDown;
            group.why_detail.clear();
        }
    }
    if (!hopeless && !group.hopeless) return;
    queue_.set_hopeless(group, hopeless);
    for (const sched::QueueKey& key : group.members) {
        Job& job = jobs_.at(key.job);
        drop_reservation(job.id);
        set_waiting_reason(job, group.partition);
    }
}

void Cluster::Impl::set_waiting_reason(Job& job, PartitionIndex partition) {
    job.last_evaluated = now_;
    const sched::Group* group = queue_.group_of(job.id, partition);
    if (group != nullptr && group->hopeless) return set_reason(job, group->why, group->why_detail);
    const auto front = queue_.front(partition);
    if (front && front->job != job.id) {
        const Job* ahead = find_job(front->job);
        return set_reason(
            job, Reason::Priority,
            ahead == nullptr ? std::string() : "behind job " + model::display_id(*ahead));
    }
    set_reason(job, Reason::Resources);
}

// Only newcomers and those who have become first change their reason: a pass costs what changed.
void Cluster::Impl::settle_reasons() {
    const auto settle = [&](JobId id) {
        Job* job = find_job(id);
        if (job == nullptr || !queue_.contains(id) ||
            !std::holds_alternative<model::Pending>(job->phase))
            return;
        for (PartitionIndex p = 0; p < partitions_.size(); ++p) {
            if (queue_.group_of(id, p) != nullptr) return set_waiting_reason(*job, p);
        }
    };
    for (const JobId id : fresh_) settle(id);
    fresh_.clear();
    for (PartitionIndex p = 0; p < partitions_.size(); ++p) {
        const auto front = queue_.front(p);
        if (front == fronts_[p]) continue;
        if (fronts_[p]) settle(fronts_[p]->job);
        if (front) settle(front->job);
        fronts_[p] = front;
    }
}

}  // namespace switchyard::core
