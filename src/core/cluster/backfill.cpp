// backfill.cpp: places kept for jobs that must wait.
//
// A reservation is made for the foremost job of a partition the moment someone behind it could
// start, and for the top of the whole queue by a plan, every backfill_interval if anything has
// happened that concerns it. A plan of a large queue takes several passes, so that others are not
// kept waiting; what has come to pass meanwhile is checked before it replaces the present one.
// Running jobs can only end earlier than assumed, so an old reservation stays feasible; the next
// plan finds the better one.

#include <algorithm>

#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {
namespace {

// A glance at a shape that a node may serve costs this much less than the try of a group.
constexpr std::size_t kOffersPerTry = 50;

}  // namespace

sched::Reserved Cluster::Impl::reserved_for(const sched::NodePool& pool, const sched::Group& group,
                                            sched::QueueKey key, const sched::Planned& planned,
                                            const sched::Pick& pick) {
    sched::Reserved reserved;
    reserved.key = key;
    reserved.job = key.job;
    reserved.from = planned.start;
    reserved.until = planned.start + group.limit.value_or(sched::kForever);
    // In a reservation it stays no longer than that.
    if (const auto end =
            pool.windows().admit(pick.node, planned.owner, reserved.from, reserved.until))
        reserved.until = *end;
    reserved.room = sched::planned_room(pool, group.demand, pick);
    reserved.whole = group.demand.shape.whole_nodes;
    return reserved;
}

// What people see of it.
void Cluster::Impl::tell_plan(JobId job, const sched::Planned& planned) {
    auto& pending = std::get<model::Pending>(jobs_.at(job).phase);
    // Behind a job without a limit the start is a figure of speech; people are not told it.
    if (planned.start >= now_ + sched::kForever / 2) return;
    pending.planned_start = planned.start;
    pending.planned_nodes.clear();
    for (const sched::Pick& pick : planned.picks)
        pending.planned_nodes.push_back(pool_.node(pick.node).name);
}

void Cluster::Impl::keep_places(const sched::Group& group, sched::QueueKey key,
                                const sched::Planned& planned) {
    KeptPlace reservation{key, {}};
    for (const sched::Pick& pick : planned.picks) {
        pool_.reserve(pick.node, reserved_for(pool_, group, key, planned, pick));
        reservation.nodes.push_back(pick.node);
    }
    reservations_.insert_or_assign(key.job, std::move(reservation));
}

void Cluster::Impl::ensure_reserved(sched::QueueKey key, PartitionIndex partition) {
    if (reservations_.contains(key.job) || unplanned_.contains(key.job)) return;
    const sched::Group* group = queue_.group_of(key.job, partition);
    if (group == nullptr || !has_licenses(jobs_.at(key.job))) return;
    if (const Job& job = jobs_.at(key.job); job.het) {
        if (!reserve_all(job, key)) unplanned_.insert(key.job);
        return;
    }
    sched::Planner planner(pool_, pool_.reservations(), now_);
    const Seconds limit = group->limit.value_or(sched::kForever);
    const auto planned = planner.plan(0, partition, group->demand, limit, key);
    if (planned) tell_plan(key.job, *planned);
    // What fits now by count but not by piece (a card half shared out) is not held back for.
    if (planned && planned->start > now_) {
        keep_places(*group, key, *planned);
    } else {
        unplanned_.insert(key.job);
    }
}

void Cluster::Impl::drop_reservation(JobId job) {
    const auto found = reservations_.find(job);
    if (found == reservations_.end()) return;
    const std::vector<NodeIndex> nodes = std::move(found->second.nodes);
    reservations_.erase(found);
    plan_is_stale_ = true;
    for (const NodeIndex node : nodes) {
        pool_.drop_reservation(node, job);
        queue_.wake(node);
    }
}

// When the plan is to be made anew, if nothing else happens: at its next turn if it is known to be
// out of date, else when a start that it foresaw did not come.
std::optional<Instant> Cluster::Impl::next_plan() const {
    if (!settings_.backfill || !next_backfill_ || queue_.size() == 0) return std::nullopt;
    if (plan_is_stale_) return next_backfill_;
    if (!plan_expires_) return std::nullopt;
    return std::max(*next_backfill_, *plan_expires_ + Seconds{1});
}

bool Cluster::Impl::plan_is_due() const {
    if (making_ != nullptr) return true;
    const auto next = next_plan();
    return next && *next <= now_;
}

// Goes on with the plan. True when it is done, and everyone may try again beside it.
bool Cluster::Impl::continue_plan() {
    if (making_ == nullptr) {
        making_ = std::make_unique<PlanInMaking>(pool_, now_);
        next_backfill_ = now_ + settings_.backfill_interval;
        plan_is_stale_ = false;
    }
    PlanInMaking& plan = *making_;
    plan.planner.look_again();
    ++plan.passes;
    const std::uint64_t enough = plan.planner.looked_at() + kPlanLooksPerPassMax;
    plan_end_.reset();
    while (const auto stand = queue_.next_behind(plan.last)) {
        if (plan.seen.size() >= settings_.backfill_jobs_max ||
            plan.planner.looked_at() > kBackfillLooksMax) {
            plan_end_ = stand->first;
            break;
        }
        if (plan.planner.looked_at() >= enough) {
            more_to_do_ = true;
            return false;
        }
        plan.last = stand;
        const auto& [key, partition] = *stand;
        if (!plan.seen.insert(key.job).second) continue;
        jobs_.at(key.job).last_evaluated = now_;
        // Places for several components at once are kept when somebody would pass them.
        if (jobs_.at(key.job).het || !has_licenses(jobs_.at(key.job))) continue;
        const sched::Group& group = *queue_.group_of(key.job, partition);
        const Seconds limit = group.limit.value_or(sched::kForever);
        auto planned = plan.planner.plan(group.id, partition, group.demand, limit, key);
        if (!planned) continue;
        // What fits now by count but not by piece is not held back for.
        const bool waits = planned->start > now_;
        for (std::size_t i = 0; waits && i < planned->picks.size(); ++i) {
            const sched::Pick& pick = planned->picks[i];
            plan.reserved.add(pick.node, pool_.node(pick.node).places,
                              reserved_for(pool_, group, key, *planned, pick));
        }
        plan.entries.push_back({key, partition, std::move(*planned), waits});
    }
    commit_plan();
    return true;
}

// Whether the nodes can still be as the plan foresaw.
bool Cluster::Impl::still_holds(const PlanInMaking::Entry& entry, const sched::Group& group,
                                const sched::Reservations& reserved) const {
    const Instant start = entry.planned.start;
    if (start <= now_) return false;
    const sched::View view{.start = start,
                           .end = start + group.limit.value_or(sched::kForever),
                           .key = entry.key,
                           .future = true,
                           .reserved = &reserved,
                           .owner = entry.planned.owner};
    return std::ranges::all_of(entry.planned.picks, [&](const sched::Pick& pick) {
        const auto room = sched::room_in(pool_, pick.node, view);
        if (!room) return false;
        const sched::Fit fit = sched::fit(pool_.node(pick.node), *room, group.demand, pool_.unit());
        bool enough = fit.tasks >= pick.tasks;
        for (std::size_t kind = 0; kind < pick.gpus.size(); ++kind)
            enough &= fit.gpus[kind] >= pick.gpus[kind];
        return enough;
    });
}

void Cluster::Impl::commit_plan() {
    ++figures_.backfill_cycles;
    for (const auto& [id, reservation] : reservations_) {
        Job* job = find_job(id);
        auto* pending = job != nullptr ? std::get_if<model::Pending>(&job->phase) : nullptr;
        if (pending == nullptr) continue;
        pending->planned_start.reset();
        pending->planned_nodes.clear();
    }
    reservations_.clear();
    plan_expires_.reset();
    const std::unique_ptr<PlanInMaking> plan = std::move(making_);
    const bool doubtful = plan->passes > 1;
    sched::Reservations reserved = doubtful ? pool_.no_reservations() : std::move(plan->reserved);
    for (const PlanInMaking::Entry& entry : plan->entries) {
        const sched::Group* group = queue_.group_of(entry.key.job, entry.partition);
        if (group == nullptr || !group->members.contains(entry.key)) continue;
        if (doubtful && entry.waits && !still_holds(entry, *group, reserved)) continue;
        tell_plan(entry.key.job, entry.planned);
        if (!entry.waits) continue;
        if (!plan_expires_ || entry.planned.start < *plan_expires_)
            plan_expires_ = entry.planned.start;
        KeptPlace reservation{entry.key, {}};
        for (const sched::Pick& pick : entry.planned.picks) {
            reservation.nodes.push_back(pick.node);
            if (!doubtful) continue;
            reserved.add(pick.node, pool_.node(pick.node).places,
                         reserved_for(pool_, *group, entry.key, entry.planned, pick));
        }
        reservations_.insert_or_assign(entry.key.job, std::move(reservation));
    }
    std::vector<NodeIndex> concerned = pool_.set_reservations(std::move(reserved));
    std::erase_if(concerned, [&](NodeIndex node) { return pool_.node(node).free.cores == 0; });
    figures_.last_backfill_depth = plan->seen.size();
    figures_.total_backfill_depth += plan->seen.size();
    figures_.backfill_queue_length = queue_.size();
    figures_.total_backfill_queue_length += queue_.size();
    figures_.table_size = reservations_.size();
    figures_.total_table_size += reservations_.size();
    // Everyone may try again where places were kept, or are now: by node or by group, whichever is
    // less.
    if (concerned.size() * queue_.blocked_shapes() > queue_.group_count() * kOffersPerTry) {
        queue_.wake_all();
    } else {
        for (const NodeIndex node : concerned) queue_.wake(node);
    }
}

}  // namespace switchyard::core
