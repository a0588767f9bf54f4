// backfill.cpp: places kept for jobs that must wait.
//
// A reservation is made for the foremost job of a partition the moment someone behind it could
// start, and for the top of the whole queue by a planning pass every backfill_interval. Running
// jobs can only end earlier than assumed, so an old reservation stays feasible; the next pass finds
// the better one.

#include <algorithm>

#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {

bool Cluster::Impl::reserve(const Job& job, PartitionIndex partition, sched::Group& group,
                            sched::QueueKey key, sched::Planner& planner) {
    const Seconds limit = group.limit.value_or(sched::kForever);
    const auto planned = planner.plan(group.id, partition, group.demand, limit, key);
    if (!planned) return false;
    auto& pending = std::get<model::Pending>(jobs_.at(job.id).phase);
    // Behind a job without a limit the start is a figure of speech; people are not told it.
    if (planned->start < now_ + sched::kForever / 2) {
        pending.planned_start = planned->start;
        pending.planned_nodes.clear();
        for (const sched::Pick& pick : planned->picks)
            pending.planned_nodes.push_back(pool_.node(pick.node).name);
    }
    // What fits now by count but not by piece (a card half shared out) is not held back for.
    if (planned->start <= now_) return true;
    Reservation reservation{key, {}};
    for (const sched::Pick& pick : planned->picks) {
        sched::Reserved reserved;
        reserved.key = key;
        reserved.job = job.id;
        reserved.from = planned->start;
        reserved.until = planned->start + limit;
        reserved.room = sched::planned_room(pool_, group.demand, pick);
        reserved.whole = group.demand.shape.whole_nodes;
        pool_.reserve(pick.node, std::move(reserved));
        reservation.nodes.push_back(pick.node);
    }
    reservations_.insert_or_assign(job.id, std::move(reservation));
    return true;
}

void Cluster::Impl::ensure_reserved(sched::QueueKey key, PartitionIndex partition) {
    if (reservations_.contains(key.job)) return;
    sched::Group* group = queue_.group_of(key.job, partition);
    if (group == nullptr || !group->blocked) return;
    sched::Planner planner(pool_, now_);
    reserve(jobs_.at(key.job), partition, *group, key, planner);
}

void Cluster::Impl::drop_reservation(JobId job) {
    const auto found = reservations_.find(job);
    if (found == reservations_.end()) return;
    const std::vector<NodeIndex> nodes = std::move(found->second.nodes);
    reservations_.erase(found);
    for (const NodeIndex node : nodes) {
        pool_.drop_reservation(node, job);
        const sched::NodeEntry& entry = pool_.node(node);
        if (entry.open) queue_.wake(entry.places, entry.free.cores * entry.threads);
    }
}

// Plans anew for the top of the queue, and lets everyone try again beside the new plan.
void Cluster::Impl::backfill_pass() {
    ++figures_.backfill_cycles;
    next_backfill_ = now_ + settings_.backfill_interval;
    plan_is_stale_ = false;
    for (const auto& [id, reservation] : reservations_) {
        if (Job* job = find_job(id)) {
            if (auto* pending = std::get_if<model::Pending>(&job->phase)) {
                pending->planned_start.reset();
                pending->planned_nodes.clear();
            }
        }
    }
    reservations_.clear();
    pool_.drop_reservations();
    sched::Planner planner(pool_, now_);
    std::uint32_t planned = 0;
    std::set<JobId> done;
    for (const auto& [key, partition] : queue_.everyone()) {
        if (planned >= settings_.backfill_jobs_max || planner.looked_at() > kBackfillLooksMax)
            break;
        if (!done.insert(key.job).second) continue;
        Job& job = jobs_.at(key.job);
        sched::Group* group = queue_.group_of(key.job, partition);
        ++planned;
        reserve(job, partition, *group, key, planner);
        job.last_evaluated = now_;
    }
    figures_.last_backfill_depth = planned;
    figures_.total_backfill_depth += planned;
    figures_.backfill_queue_length = queue_.size();
    figures_.total_backfill_queue_length += queue_.size();
    figures_.table_size = reservations_.size();
    figures_.total_table_size += reservations_.size();
    queue_.wake_all();
}

}  // namespace switchyard::core
