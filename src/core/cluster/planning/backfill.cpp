// backfill.cpp: backfill reservations for jobs that must wait, and the plan that makes them.
//
// A reservation is made for the foremost job of a partition the moment someone behind it could
// start, and for the first few of each partition by a plan, every backfill_interval if anything has
// happened that concerns it. Now and then a plan goes on further, to estimate the others' starts. A
// plan of a large queue takes several passes, so that others are not kept waiting; what has come to
// pass meanwhile is checked before it replaces the present one. Running jobs can only end earlier
// than assumed, so an old reservation stays feasible; the next plan finds the better one. It begins
// at the top; further down most places are kept as they are, if they still can be, and only a part
// of them is looked for anew each time.

#include "core/cluster/planning/backfill.hpp"

#include <algorithm>

#include "core/cluster/planning/backfill_places.hpp"

namespace switchyard::core {
namespace {

// A plan is made in parts, each with so many looks at nodes; and ends after so many in all.
constexpr std::uint64_t kPlanLooksPerPassMax = 100000;
constexpr std::uint64_t kBackfillLooksMax = 3000000;

}  // namespace

void Backfill::clear() {
    reservations_.clear();
    estimated_.clear();
    making_.reset();
    end_.reset();
    expires_.reset();
    is_stale_ = true;
    if (!next_) next_ = world_.now;
}

// Reservations were made without the windows that have come.
void Backfill::windows_changed() {
    making_.reset();
    std::vector<JobId> planned;
    for (const auto& [job, place] : reservations_) planned.push_back(job);
    for (const JobId job : planned) drop(job);
    is_stale_ = true;
    if (!next_) next_ = world_.now;
}

const BackfillReservation* Backfill::reservation_of(JobId job) const {
    const auto found = reservations_.find(job);
    return found == reservations_.end() ? nullptr : &found->second;
}

// Behind the end of the plan there is nothing in it to change; behind those in it, only to add.
void Backfill::job_queued(sched::QueueKey key) {
    const auto& last = world_.pool.reservations().last_key();
    const bool behind = last && *last < key;
    if (!end_ || key < *end_) (behind ? is_short_ : is_stale_) = true;
}

// Reservations for those who are first in line, and would be passed. Returns whether anybody would
// be.
bool Backfill::protect_those_ahead(PartitionIndex partition, sched::QueueKey key) {
    bool passes_someone = false;
    for (PartitionIndex p = 0; world_.settings.backfill && p < world_.partitions.size(); ++p) {
        const auto front = queue_.front(p);
        if (!front || front->job == key.job || !(*front < key) ||
            !world_.pool.overlap(p, partition))
            continue;
        passes_someone |= p == partition;
        ensure_reserved(*front, p);
    }
    return passes_someone;
}

void Backfill::ensure_reserved(sched::QueueKey key, PartitionIndex partition) {
    if (reservations_.contains(key.job) || unplanned_.contains(key.job) || holds_.contains(key.job))
        return;
    const sched::Group* group = queue_.group_of(key.job, partition);
    if (group == nullptr || !licenses_.has_for(world_.jobs.at(key.job))) return;
    if (const Job& job = world_.jobs.at(key.job); job.het) {
        if (auto reserved = het_.reserve(job, key)) {
            reservations_.insert_or_assign(key.job, *std::move(reserved));
        } else {
            unplanned_.insert(key.job);
        }
        return;
    }
    sched::Planner planner(world_.pool, world_.pool.reservations(), world_.now);
    const auto planned = planner.plan(0, partition, group->demand, limit_of(*group), key);
    if (planned) estimate_start(world_, key.job, *planned);
    // What fits now by count but not by piece (a card half shared out) is not held back for.
    if (planned && planned->start > world_.now) {
        reserve(*group, key, *planned);
    } else {
        unplanned_.insert(key.job);
    }
}

void Backfill::reserve(const sched::Group& group, sched::QueueKey key,
                       const sched::Planned& planned) {
    for (const sched::Pick& pick : planned.picks)
        world_.pool.reserve(pick.node, reserved_for(world_.pool, group.demand, limit_of(group), key,
                                                    planned, pick));
    reservations_.insert_or_assign(key.job, BackfillReservation{key, group.partition, planned});
}

void Backfill::drop(JobId job) {
    const auto found = reservations_.find(job);
    if (found == reservations_.end()) return;
    const std::vector<sched::Pick> picks = std::move(found->second.planned.picks);
    reservations_.erase(found);
    is_stale_ = true;
    for (const sched::Pick& pick : picks) {
        world_.pool.drop_reservation(pick.node, job);
        queue_.wake(pick.node);
    }
}

// When the plan is to be made anew, if nothing else happens: at its next turn if it is known to be
// out of date, else when a start that it foresaw did not come.
std::optional<Instant> Backfill::next_plan() const {
    if (!world_.settings.backfill || !next_ || queue_.size() == 0) return std::nullopt;
    if (is_stale_ || is_short_) return next_;
    std::optional<Instant> next = expires_;
    if (next) *next += Seconds{1};
    if (some_lack_estimates_ && (!next || next_deep_ < *next)) next = next_deep_;
    return next ? std::optional(std::max(*next_, *next)) : std::nullopt;
}

bool Backfill::is_due() const {
    if (making_ != nullptr) return true;
    const auto next = next_plan();
    return next && *next <= world_.now;
}

// Goes on with the plan. True when it is done, and everyone may try again beside it.
bool Backfill::continue_plan() {
    if (making_ == nullptr) {
        const PlanInMaking::Kind kind{.anew = is_stale_ || !is_short_,
                                      .deep = next_deep_ <= world_.now};
        some_lack_estimates_ = false;
        making_ =
            std::make_unique<PlanInMaking>(world_.pool, world_.now, world_.settings.backfill_window,
                                           kind, world_.figures.backfill_cycles);
        next_ = world_.now + world_.settings.backfill_interval;
        is_stale_ = is_short_ = false;
        holds_.add_to(making_->reserved);
        making_->holds_version = holds_.version();
    }
    PlanInMaking& plan = *making_;
    plan.planner.look_again();
    ++plan.passes;
    const auto looked_at = [&] { return plan.planner.looked_at() + plan.checked; };
    const std::uint64_t enough = looked_at() + kPlanLooksPerPassMax;
    end_.reset();
    while (const auto stand = queue_.next_behind(plan.last)) {
        if (plan.seen.size() >= world_.settings.backfill_jobs_max ||
            looked_at() > kBackfillLooksMax || (!plan.kind.deep && is_full(plan))) {
            some_lack_estimates_ |= !plan.kind.deep;
            end_ = stand->first;
            break;
        }
        if (looked_at() >= enough) return false;
        if (!plan_next(plan, *stand, enough - looked_at())) return false;
        plan.last = stand;
    }
    while (!plan.foreseen.empty()) het_.drop_foreseen(plan, plan.foreseen.begin()->first);
    commit_plan();
    return true;
}

// False: it takes longer than this part of the plan may.
bool Backfill::plan_next(PlanInMaking& plan, const sched::Queue::Stand& stand,
                         std::uint64_t looks) {
    const auto& [key, partition] = stand;
    if (het_.stands_below(key)) {
        het_.foresee(plan, key, reservation_of(key.job));
        return true;
    }
    const bool resumed = plan.common_start && plan.common_start->leader == key.job;
    if (!plan.seen.insert(key.job).second && !resumed) return true;
    if (!plan.kind.deep && plan.is_full(partition)) {
        some_lack_estimates_ = true;
        return true;
    }
    world_.jobs.at(key.job).last_evaluated = world_.now;
    if (holds_.contains(key.job) || !licenses_.has_for(world_.jobs.at(key.job))) return true;
    if (world_.jobs.at(key.job).het)
        return het_.add_to(plan, key, partition, looks, reservation_of(key.job));
    plan_one(plan, key, partition);
    return true;
}

// Every partition that somebody waits for.
bool Backfill::is_full(const PlanInMaking& plan) const {
    for (PartitionIndex p = 0; p < world_.partitions.size(); ++p) {
        if (queue_.front(p) && !plan.is_full(p)) return false;
    }
    return true;
}

void Backfill::plan_one(PlanInMaking& plan, sched::QueueKey key, PartitionIndex partition) {
    const sched::Group& group = *queue_.group_of(key.job, partition);
    std::optional<sched::Planned> planned;
    if (const sched::Planned* before = kept_from_before(plan, key, group)) {
        planned = *before;
    } else {
        planned = plan.planner.plan(group.id, partition, group.demand, limit_of(group), key);
    }
    if (!planned) return;
    // What fits now by count but not by piece is not held back for.
    const bool waits = planned->start > world_.now;
    for (std::size_t i = 0; waits && i < planned->picks.size(); ++i) {
        const sched::Pick& pick = planned->picks[i];
        plan.reserved.add(
            pick.node, world_.pool.node(pick.node).places,
            reserved_for(world_.pool, group.demand, limit_of(group), key, *planned, pick));
    }
    const bool binds = waits && !plan.is_full(partition);
    if (binds) ++plan.kept[partition];
    plan.entries.push_back({key, partition, std::move(*planned), {}, waits, binds});
}

// The place that the present plan has for the job, if it is good enough for the next one too.
const sched::Planned* Backfill::kept_from_before(PlanInMaking& plan, sched::QueueKey key,
                                                 const sched::Group& group) const {
    if (plan.is_renewed()) return nullptr;
    const BackfillReservation* kept = reservation_of(key.job);
    if (kept == nullptr || !(kept->key == key) || kept->partition != group.partition)
        return nullptr;
    plan.checked += kept->planned.picks.size();
    const bool good = still_holds(world_, key, kept->planned, group.demand, limit_of(group),
                                  plan.planner.outlook());
    return good ? &kept->planned : nullptr;
}

}  // namespace switchyard::core
