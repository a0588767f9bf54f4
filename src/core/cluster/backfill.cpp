// backfill.cpp: places kept for jobs that must wait.
//
// A reservation is made for the foremost job of a partition the moment someone behind it could
// start, and for the first few of each partition by a plan, every backfill_interval if anything has
// happened that concerns it. Now and then a plan goes on further, to tell the others a start. A
// plan of a large queue takes several passes, so that others are not kept waiting; what has come to
// pass meanwhile is checked before it replaces the present one. Running jobs can only end earlier
// than assumed, so an old reservation stays feasible; the next plan finds the better one. It begins
// at the top; further down most places are kept as they are, if they still can be, and only a part
// of them is looked for anew each time.

#include <algorithm>

#include "core/cluster/cluster_impl.hpp"
#include "core/cluster/het_together.hpp"

namespace switchyard::core {
namespace {

// A glance at a shape that a node may serve costs this much less than the try of a group.
constexpr std::size_t kOffersPerTry = 200;

// Places are kept for so many jobs of each partition. More of them protect nobody who could not
// wait for his turn, and make everybody wait longer: small jobs find fewer gaps.
constexpr std::uint32_t kPlacesPerPartition = 10;

// A plan that goes on to those for whom no places are kept, to tell them a start, is made at each
// interval if they are few, else the rarer the more they are and the more it takes: nothing is kept
// of it, so each one begins anew. On the average of the intervals so many are told, and every node
// is looked at so often for them.
constexpr std::int64_t kToldEachInterval = kPlacesPerPartition;
constexpr std::int64_t kIntervalsPerDeepPlan = 20, kToldPerInterval = 8, kToldLooksPerNode = 4;

Seconds limit_of(const sched::Group& group) { return group.limit.value_or(sched::kForever); }

}  // namespace

sched::Reserved Cluster::Impl::reserved_for(const sched::NodePool& pool,
                                            const sched::Demand& demand, Seconds limit,
                                            sched::QueueKey key, const sched::Planned& planned,
                                            const sched::Pick& pick) {
    sched::Reserved reserved;
    reserved.key = key;
    reserved.job = key.job;
    reserved.from = planned.start;
    reserved.until = planned.start + limit;
    // In a reservation it stays no longer than that.
    if (const auto end =
            pool.windows().admit(pick.node, planned.owner, reserved.from, reserved.until))
        reserved.until = end->until;
    reserved.room = sched::planned_room(pool, demand, pick);
    reserved.whole = demand.shape.whole_nodes;
    reserved.owner = planned.owner;
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
    for (const sched::Pick& pick : planned.picks)
        pool_.reserve(pick.node,
                      reserved_for(pool_, group.demand, limit_of(group), key, planned, pick));
    reservations_.insert_or_assign(key.job, KeptPlace{key, group.partition, planned});
}

void Cluster::Impl::ensure_reserved(sched::QueueKey key, PartitionIndex partition) {
    if (reservations_.contains(key.job) || unplanned_.contains(key.job) ||
        claims_.contains(key.job))
        return;
    const sched::Group* group = queue_.group_of(key.job, partition);
    if (group == nullptr || !has_licenses(jobs_.at(key.job))) return;
    if (const Job& job = jobs_.at(key.job); job.het) return together_->reserve(job, key);
    sched::Planner planner(pool_, pool_.reservations(), now_);
    const auto planned = planner.plan(0, partition, group->demand, limit_of(*group), key);
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
    const std::vector<sched::Pick> picks = std::move(found->second.planned.picks);
    reservations_.erase(found);
    plan_is_stale_ = true;
    for (const sched::Pick& pick : picks) {
        pool_.drop_reservation(pick.node, job);
        queue_.wake(pick.node);
    }
}

// When the plan is to be made anew, if nothing else happens: at its next turn if it is known to be
// out of date, else when a start that it foresaw did not come.
std::optional<Instant> Cluster::Impl::next_plan() const {
    if (!settings_.backfill || !next_backfill_ || queue_.size() == 0) return std::nullopt;
    if (plan_is_stale_ || plan_is_short_) return next_backfill_;
    std::optional<Instant> next = plan_expires_;
    if (next) *next += Seconds{1};
    if (some_are_untold_ && (!next || next_deep_plan_ < *next)) next = next_deep_plan_;
    return next ? std::optional(std::max(*next_backfill_, *next)) : std::nullopt;
}

bool Cluster::Impl::plan_is_due() const {
    if (making_ != nullptr) return true;
    const auto next = next_plan();
    return next && *next <= now_;
}

// Goes on with the plan. True when it is done, and everyone may try again beside it.
bool Cluster::Impl::continue_plan() {
    if (making_ == nullptr) {
        const PlanInMaking::Kind kind{.anew = plan_is_stale_ || !plan_is_short_,
                                      .deep = next_deep_plan_ <= now_};
        some_are_untold_ = false;
        making_ = std::make_unique<PlanInMaking>(pool_, now_, settings_.backfill_window, kind);
        next_backfill_ = now_ + settings_.backfill_interval;
        plan_is_stale_ = plan_is_short_ = false;
        add_claims(making_->reserved);
        making_->claims_version = claims_version_;
    }
    PlanInMaking& plan = *making_;
    plan.planner.look_again();
    ++plan.passes;
    const auto looked_at = [&] { return plan.planner.looked_at() + plan.checked; };
    const std::uint64_t enough = looked_at() + kPlanLooksPerPassMax;
    plan_end_.reset();
    while (const auto stand = queue_.next_behind(plan.last)) {
        if (plan.seen.size() >= settings_.backfill_jobs_max || looked_at() > kBackfillLooksMax ||
            (!plan.kind.deep && is_full(plan))) {
            some_are_untold_ |= !plan.kind.deep;
            plan_end_ = stand->first;
            break;
        }
        if (looked_at() >= enough) {
            more_to_do_ = true;
            return false;
        }
        if (!plan_next(plan, *stand, enough - looked_at())) {
            more_to_do_ = true;
            return false;
        }
        plan.last = stand;
    }
    while (!plan.foreseen.empty()) together_->drop_foreseen(plan, plan.foreseen.begin()->first);
    commit_plan();
    return true;
}

// False: it takes longer than this part of the plan may.
bool Cluster::Impl::plan_next(PlanInMaking& plan, const sched::Queue::Stand& stand,
                              std::uint64_t looks) {
    const auto& [key, partition] = stand;
    if (together_->stands_below(key)) {
        together_->foresee(plan, key);
        return true;
    }
    const bool resumed = plan.together && plan.together->leader == key.job;
    if (!plan.seen.insert(key.job).second && !resumed) return true;
    if (!plan.kind.deep && is_full(plan, partition)) {
        some_are_untold_ = true;
        return true;
    }
    jobs_.at(key.job).last_evaluated = now_;
    if (claims_.contains(key.job) || !has_licenses(jobs_.at(key.job))) return true;
    if (jobs_.at(key.job).het) return together_->add_to(plan, key, partition, looks);
    plan_one(plan, key, partition);
    return true;
}

// No more places are kept in this partition.
bool Cluster::Impl::is_full(const PlanInMaking& plan, PartitionIndex partition) const {
    return plan.kept[partition] >= kPlacesPerPartition;
}

// Nor in any other that somebody waits for.
bool Cluster::Impl::is_full(const PlanInMaking& plan) const {
    for (PartitionIndex p = 0; p < plan.kept.size(); ++p) {
        if (queue_.front(p) && !is_full(plan, p)) return false;
    }
    return true;
}

// What is kept for those who others leave for is no matter of a plan: it goes beside it.
void Cluster::Impl::add_claims(sched::Reservations& reserved) const {
    for (const auto& [id, claim] : claims_) {
        for (const auto& [node, place] : claim.places)
            reserved.add(node, pool_.node(node).places, place);
    }
}

void Cluster::Impl::plan_one(PlanInMaking& plan, sched::QueueKey key, PartitionIndex partition) {
    const sched::Group& group = *queue_.group_of(key.job, partition);
    std::optional<sched::Planned> planned;
    if (const sched::Planned* before = kept_from_before(plan, key, group)) {
        planned = *before;
    } else {
        planned = plan.planner.plan(group.id, partition, group.demand, limit_of(group), key);
    }
    if (!planned) return;
    // What fits now by count but not by piece is not held back for.
    const bool waits = planned->start > now_;
    for (std::size_t i = 0; waits && i < planned->picks.size(); ++i) {
        const sched::Pick& pick = planned->picks[i];
        plan.reserved.add(pick.node, pool_.node(pick.node).places,
                          reserved_for(pool_, group.demand, limit_of(group), key, *planned, pick));
    }
    const bool binds = waits && !is_full(plan, partition);
    if (binds) ++plan.kept[partition];
    plan.entries.push_back({key, partition, std::move(*planned), {}, waits, binds});
}

// Whether the place of the job that was seen last is looked for anew.
bool Cluster::Impl::is_renewed(const PlanInMaking& plan) const {
    const std::size_t position = plan.seen.size();
    const bool in_turn =
        position <= kRenewedEachTime || (position + figures_.backfill_cycles) % kRenewalParts == 0;
    return plan.kind.anew && in_turn;
}

// The place that the present plan has for the job, if it is good enough for the next one too.
const sched::Planned* Cluster::Impl::kept_from_before(PlanInMaking& plan, sched::QueueKey key,
                                                      const sched::Group& group) const {
    if (is_renewed(plan)) return nullptr;
    const auto found = reservations_.find(key.job);
    if (found == reservations_.end()) return nullptr;
    const KeptPlace& kept = found->second;
    if (!(kept.key == key) || kept.partition != group.partition) return nullptr;
    plan.checked += kept.planned.picks.size();
    const bool good =
        still_holds(key, kept.planned, group.demand, limit_of(group), plan.planner.outlook());
    return good ? &kept.planned : nullptr;
}

// Whether the nodes can still be as it was foreseen.
bool Cluster::Impl::still_holds(sched::QueueKey key, const sched::Planned& planned,
                                const sched::Demand& demand, Seconds limit,
                                sched::Outlook& beside) const {
    if (planned.start <= now_) return false;
    const sched::View view{.start = planned.start,
                           .end = planned.start + limit,
                           .key = key,
                           .future = true,
                           .outlook = &beside,
                           .owner = planned.owner};
    return std::ranges::all_of(planned.picks, [&](const sched::Pick& pick) {
        const sched::NodeEntry& node = pool_.node(pick.node);
        const auto room = sched::room_in(pool_, pick.node, view);
        if (!room || !sched::is_candidate(node, pick.node, demand)) return false;
        const sched::Fit fit = sched::fit(node, *room, demand, pool_.unit());
        bool enough = fit.tasks >= pick.tasks;
        for (std::size_t kind = 0; kind < pick.gpus.size(); ++kind)
            enough &= fit.gpus[kind] >= pick.gpus[kind];
        return enough;
    });
}

// What was told of starts is withdrawn: by a deep plan from all, else from those who had places.
void Cluster::Impl::forget_starts() {
    const auto forget = [&](JobId id) {
        Job* job = find_job(id);
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
    for (const JobId id : foretold_) {
        jobs_.fold_idle();
        forget(id);
    }
    foretold_.clear();
}

// The places of one entry go into the plan that is kept, if they still can be.
bool Cluster::Impl::take_over(const PlanInMaking::Entry& entry, const sched::Group& group,
                              sched::Reservations& reserved, sched::Outlook* check) const {
    const JobId id = entry.key.job;
    if (!entry.parts.empty())
        return together_->keep(together_->components_to_place(jobs_.at(id)), entry.parts, id,
                               reserved, check);
    if (check != nullptr &&
        !still_holds(entry.key, entry.planned, group.demand, limit_of(group), *check))
        return false;
    for (const sched::Pick& pick : entry.planned.picks) {
        reserved.add(
            pick.node, pool_.node(pick.node).places,
            reserved_for(pool_, group.demand, limit_of(group), entry.key, entry.planned, pick));
    }
    return true;
}

// Returns the jobs that were told a start: one, or all components of one.
std::vector<JobId> Cluster::Impl::tell_entry(const PlanInMaking::Entry& entry) {
    if (entry.parts.empty()) {
        tell_plan(entry.key.job, entry.planned);
        return {entry.key.job};
    }
    std::vector<JobId> told;
    together_->tell(entry.parts);
    for (const PlannedPart& part : entry.parts) told.push_back(part.job);
    return told;
}

void Cluster::Impl::commit_plan() {
    ++figures_.backfill_cycles;
    forget_starts();
    plan_expires_.reset();
    const std::unique_ptr<PlanInMaking> plan = std::move(making_);
    const bool doubtful = plan->passes > 1 || plan->claims_version != claims_version_;
    const std::int64_t told = std::ranges::count_if(
        plan->entries, [](const auto& entry) { return entry.waits && !entry.binds; });
    const bool copied = doubtful || told > 0;
    if (told > 0) {
        const auto looks = static_cast<std::int64_t>(plan->planner.looked_at() + plan->checked);
        const auto nodes = static_cast<std::int64_t>(pool_.size());
        const std::int64_t pause = told <= kToldEachInterval
                                       ? 1
                                       : std::max({kIntervalsPerDeepPlan, told / kToldPerInterval,
                                                   looks / (kToldLooksPerNode * nodes)});
        next_deep_plan_ = now_ + pause * settings_.backfill_interval;
    }
    sched::Reservations reserved = copied ? pool_.no_reservations() : std::move(plan->reserved);
    if (copied) add_claims(reserved);
    sched::Outlook beside(pool_, reserved, now_, now_);
    for (PlanInMaking::Entry& entry : plan->entries) {
        const sched::Group* group = queue_.group_of(entry.key.job, entry.partition);
        if (group == nullptr || !group->members.contains(entry.key)) continue;
        if (claims_.contains(entry.key.job)) continue;
        if (copied && entry.binds &&
            !take_over(entry, *group, reserved, doubtful ? &beside : nullptr))
            continue;
        const std::vector<JobId> told_now = tell_entry(entry);
        if (!entry.binds) {
            foretold_.insert(told_now.begin(), told_now.end());
            continue;
        }
        for (const JobId id : told_now) foretold_.erase(id);
        if (!plan_expires_ || entry.planned.start < *plan_expires_)
            plan_expires_ = entry.planned.start;
        reservations_.insert_or_assign(
            entry.key.job, KeptPlace{entry.key, entry.partition, std::move(entry.planned),
                                     std::move(entry.parts)});
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
