// backfill_commit.cpp: a plan that is done takes the place of the present one.

#include <algorithm>

#include "core/cluster/planning/backfill.hpp"
#include "core/cluster/planning/backfill_places.hpp"

namespace switchyard::core {
namespace {

// A glance at a shape that a node may serve costs this much less than the try of a group.
constexpr std::size_t kOffersPerTry = 200;

// A plan that goes on to those who get no reservation, to estimate their starts, is made at each
// interval if they are few, else the rarer the more they are and the more it takes: nothing is kept
// of it, so each one begins anew. On the average of the intervals so many get an estimate, and
// every node is looked at so often for them.
constexpr std::int64_t kEstimatesEachInterval = kPlacesPerPartition;
constexpr std::int64_t kIntervalsPerDeepPlan = 20, kEstimatesPerInterval = 8,
                       kEstimateLooksPerNode = 4;

}  // namespace

// Estimated starts are withdrawn: by a deep plan from all jobs, else from those with a reservation.
void Backfill::forget_estimates() {
    const auto forget = [&](JobId id) {
        Job* job = world_.find_job(id);
        auto* pending = job != nullptr ? std::get_if<model::Pending>(&job->phase) : nullptr;
        if (pending == nullptr) return;
        pending->planned_start.reset();
        pending->planned_nodes.clear();
    };
    for (const auto& [id, kept] : reservations_) {
        forget(id);
        for (const PlannedPart& part : kept.parts) forget(part.job);
    }
    reservations_.clear();
    if (!making_->kind.deep) return;
    for (const JobId id : estimated_) {
        world_.jobs.fold_idle();
        forget(id);
    }
    estimated_.clear();
}

// The places of one entry go into the plan that takes over, if they still can be.
bool Backfill::take_over(const PlanInMaking::Entry& entry, const sched::Group& group,
                         sched::BackfillReservations& reserved, sched::Outlook* check) const {
    const JobId id = entry.key.job;
    if (!entry.parts.empty())
        return het_.keep(het_.components_to_place(world_.jobs.at(id)), entry.parts, id, reserved,
                         check);
    if (check != nullptr &&
        !still_holds(world_, entry.key, entry.planned, group.demand, limit_of(group), *check))
        return false;
    for (const sched::Pick& pick : entry.planned.picks) {
        reserved.add(pick.node, world_.pool.node(pick.node).places,
                     reserved_for(world_.pool, group.demand, limit_of(group), entry.key,
                                  entry.planned, pick));
    }
    return true;
}

// Returns the jobs that got an estimated start: one, or all components of one.
std::vector<JobId> Backfill::estimate_entry(const PlanInMaking::Entry& entry) {
    if (entry.parts.empty()) {
        estimate_start(world_, entry.key.job, entry.planned);
        return {entry.key.job};
    }
    std::vector<JobId> jobs;
    het_.estimate_starts(entry.parts);
    for (const PlannedPart& part : entry.parts) jobs.push_back(part.job);
    return jobs;
}

void Backfill::commit_plan() {
    ++world_.figures.backfill_cycles;
    forget_estimates();
    expires_.reset();
    const std::unique_ptr<PlanInMaking> plan = std::move(making_);
    const bool doubtful = plan->passes > 1 || plan->holds_version != holds_.version();
    const std::int64_t estimates = std::ranges::count_if(
        plan->entries, [](const auto& entry) { return entry.waits && !entry.binds; });
    const bool copied = doubtful || estimates > 0;
    if (estimates > 0) {
        const auto looks = static_cast<std::int64_t>(plan->planner.looked_at() + plan->checked);
        const auto nodes = static_cast<std::int64_t>(world_.pool.size());
        const std::int64_t pause =
            estimates <= kEstimatesEachInterval
                ? 1
                : std::max({kIntervalsPerDeepPlan, estimates / kEstimatesPerInterval,
                            looks / (kEstimateLooksPerNode * nodes)});
        next_deep_ = world_.now + pause * world_.settings.backfill_interval;
    }
    sched::BackfillReservations reserved =
        copied ? world_.pool.no_reservations() : std::move(plan->reserved);
    if (copied) holds_.add_to(reserved);
    sched::Outlook beside(world_.pool, reserved, world_.now, world_.now);
    for (PlanInMaking::Entry& entry : plan->entries) {
        const sched::Group* group = queue_.group_of(entry.key.job, entry.partition);
        if (group == nullptr || !group->members.contains(entry.key)) continue;
        if (holds_.contains(entry.key.job)) continue;
        if (copied && entry.binds &&
            !take_over(entry, *group, reserved, doubtful ? &beside : nullptr))
            continue;
        const std::vector<JobId> estimated_now = estimate_entry(entry);
        if (!entry.binds) {
            estimated_.insert(estimated_now.begin(), estimated_now.end());
            continue;
        }
        for (const JobId id : estimated_now) estimated_.erase(id);
        if (!expires_ || entry.planned.start < *expires_) expires_ = entry.planned.start;
        reservations_.insert_or_assign(
            entry.key.job, BackfillReservation{entry.key, entry.partition, std::move(entry.planned),
                                               std::move(entry.parts)});
    }
    std::vector<NodeIndex> concerned = world_.pool.set_reservations(std::move(reserved));
    std::erase_if(concerned,
                  [&](NodeIndex node) { return world_.pool.node(node).free.cores == 0; });
    world_.figures.last_backfill_depth = plan->seen.size();
    world_.figures.total_backfill_depth += plan->seen.size();
    world_.figures.backfill_queue_length = queue_.size();
    world_.figures.total_backfill_queue_length += queue_.size();
    world_.figures.table_size = reservations_.size();
    world_.figures.total_table_size += reservations_.size();
    // Everyone may try again where places were kept, or are now: by node or by group, whichever is
    // less.
    if (concerned.size() * queue_.blocked_shapes() > queue_.group_count() * kOffersPerTry) {
        queue_.wake_all();
    } else {
        for (const NodeIndex node : concerned) queue_.wake(node);
    }
}

}  // namespace switchyard::core
