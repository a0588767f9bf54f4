// preempt.cpp: a job of a higher tier that finds no room takes it from jobs of lower ones.
//
// Who has to go is found out on the pool itself: those in question are lifted from it, the job is
// placed as it would be placed if they had left, and whoever turns out not to be in its way is put
// back, the most important first. What is so found is kept for the job against everybody until the
// others have left. The records of those say for whom they left, so that a restart finds out again
// what was kept, and nobody is made to leave twice.

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "core/cluster/cluster_impl.hpp"
#include "core/cluster/het_together.hpp"

namespace switchyard::core {
namespace {

// Of those that may have to go, so many are looked at for one job.
constexpr std::size_t kUnitsMax = 1000;
// Jobs of so many groups are tried in one pass; the next one goes on behind them.
constexpr std::uint32_t kPreemptTriesMax = 50;
constexpr std::uint32_t kPreemptLooksMax = 1000;

bool leaves_with_grace(const Job& job) {
    const auto* run = std::get_if<model::Running>(&job.phase);
    return run != nullptr && run->preempted && run->preempted->grace_ends;
}

}  // namespace

model::PreemptMode Cluster::Impl::preempt_mode_of(const Job& job) const {
    const model::Partition* partition = partition_of(job);
    if (!settings_.preempt.by_tier || partition == nullptr) return model::PreemptMode::Off;
    return partition->preempt_mode.value_or(settings_.preempt.mode);
}

// From when on the job of this run may be preempted; none: never.
std::optional<Instant> Cluster::Impl::preemptable_from(const Job& job, Instant started) const {
    const model::PreemptMode mode = preempt_mode_of(job);
    const auto& exempt = settings_.preempt.min_exempt_priority;
    if (mode == model::PreemptMode::Off || (exempt && job.priority >= *exempt)) return std::nullopt;
    // Who is only suspended loses nothing.
    return mode == model::PreemptMode::Suspend ? started : started + settings_.preempt.exempt;
}

// What people are told of it follows the settings.
void Cluster::Impl::renew_preemptable(Job& job) {
    auto* suspended = std::get_if<model::Suspended>(&job.phase);
    auto* run = suspended != nullptr ? &suspended->run : std::get_if<model::Running>(&job.phase);
    if (run == nullptr) return;
    const auto from = preemptable_from(job, run->started);
    if (run->preemptable_at == from) return;
    run->preemptable_at = from;
    touch(job);
}

// Called whenever a job takes hold of its nodes, or does so in another way.
void Cluster::Impl::index_run(const Job& job) {
    preempt_is_stale_ = true;
    preemptable_.remove(job.id);
    lenders_.erase(job.id);
    leaving_.erase(job.id);
    if (std::holds_alternative<model::Completing>(job.phase) || leaves_with_grace(job)) {
        leaving_.insert(job.id);
        return;
    }
    if (std::holds_alternative<model::Suspended>(job.phase)) {
        const auto& preempted = model::run_of(job)->preempted;
        if (preempted && preempted->lends_cores) lenders_.insert(job.id);
        return;
    }
    const auto* run = std::get_if<model::Running>(&job.phase);
    const auto partition = partition_index(job.partition);
    if (run == nullptr || !partition || !preemptable_from(job, run->started)) return;
    const std::int64_t priority = job.priority, age = -unix_seconds(run->started);
    const bool youngest = settings_.preempt.youngest_first;
    preemptable_.put({partitions_[*partition].priority_tier, youngest ? age : priority,
                      youngest ? priority : age, job.id, *partition});
}

// Its run is over, and nothing but its remains are in anybody's way.
void Cluster::Impl::run_is_over(JobId job) {
    preemptable_.remove(job);
    lenders_.erase(job);
    drop_claim(job);
    leaving_.insert(job);
}

// Nothing of it is left.
void Cluster::Impl::has_left(JobId job, const model::Running& run) {
    leaving_.erase(job);
    if (!run.preempted) return;
    const auto claim = claims_.find(run.preempted->by);
    if (claim != claims_.end()) claim->second.victims.erase(job);
}

std::optional<std::vector<FoundPlace>> Cluster::Impl::find_places(const sched::Group& group,
                                                                  sched::QueueKey key) {
    const Job& job = jobs_.at(key.job);
    if (job.het) return together_->find_places(job);
    const sched::View view{.start = now_,
                           .end = now_ + group.limit.value_or(sched::kForever),
                           .key = key,
                           .uid = job.spec->uid};
    Try tried;
    auto allocation = find_room(group, view, tried);
    const auto licenses = allocation ? find_licenses(job, tried.owner, licenses_) : std::nullopt;
    if (!licenses) return std::nullopt;
    std::vector<FoundPlace> found;
    found.push_back({job.id, group.partition, *std::move(allocation), {tried.owner, *licenses}});
    return found;
}

// Those who leave anyway are as good as gone, unless they are overdue. Returns those of them who
// leave for this job.
std::set<JobId> Cluster::Impl::lift_leaving(LiftedRuns& lifted, JobId waiting) {
    std::set<JobId> for_it;
    for (const JobId id : leaving_) {
        const Job& job = jobs_.at(id);
        std::vector<std::string> nodes;
        if (const auto* completing = std::get_if<model::Completing>(&job.phase)) {
            const Instant overdue = completing->ended + settings_.kill_wait + kEndJobRepeat;
            if (overdue <= now_) continue;
            look_for_room_at(overdue);
            nodes = completing->dirty_nodes;
        } else {
            nodes = model::allocation_of(job)->node_names();
        }
        for (const std::string& name : nodes) {
            if (const auto node = node_index(name)) lifted.lift(*node, id, false);
        }
        const auto& preempted = model::run_of(job)->preempted;
        if (preempted && preempted->by == waiting) for_it.insert(id);
    }
    return for_it;
}

// A job with all that must go with it; none: it may not be preempted (yet) by one of this tier.
std::optional<PreemptUnit> Cluster::Impl::unit_of(const Job& job, std::uint32_t tier) {
    PreemptUnit unit;
    for (const JobId id : live_components(leader_of(job))) {
        const Job& part = jobs_.at(id);
        const RunRank* rank = preemptable_.find(id);
        if (rank == nullptr || rank->tier >= tier) return std::nullopt;
        const Instant from = *preemptable_from(part, *model::start_of(part));
        if (from > now_) {
            look_for_room_at(from);
            return std::nullopt;
        }
        unit.jobs.push_back(id);
        unit.mode = std::max(unit.mode, preempt_mode_of(part));
        for (const model::NodeGrant& grant : model::allocation_of(part)->nodes) {
            if (const auto node = node_index(grant.node)) unit.holds.emplace_back(*node, id);
        }
    }
    return unit;
}

std::vector<PreemptUnit> Cluster::Impl::preemptable_for(const sched::Group& group,
                                                        sched::QueueKey key) {
    const Job& waiting = jobs_.at(key.job);
    const std::vector<Component> components =
        waiting.het ? together_->components_to_place(waiting) : std::vector<Component>();
    const auto serves = [&](const RunRank& rank) {
        if (!waiting.het) return pool_.overlap(rank.partition, group.partition);
        return std::ranges::any_of(components, [&](const Component& component) {
            return std::ranges::any_of(component.where, [&](const Component::Where& where) {
                return rank.tier < partitions_[where.partition].priority_tier &&
                       pool_.overlap(rank.partition, where.partition);
            });
        });
    };
    std::vector<PreemptUnit> units;
    std::set<JobId> seen;
    for (const RunRank& rank : preemptable_.in_order()) {
        if (rank.tier >= key.tier || units.size() == kUnitsMax) break;
        if (!serves(rank)) continue;
        const Job& job = jobs_.at(rank.job);
        if (!seen.insert(leader_of(job).id).second) continue;
        if (auto unit = unit_of(job, key.tier)) units.push_back(*std::move(unit));
    }
    return units;
}

// Lifts, from the least important on, until the job fits; then puts back whoever it can spare, from
// the most important on. Leaves those lifted that have to go.
bool Cluster::Impl::choose_victims(const sched::Group& group, sched::QueueKey key,
                                   LiftedRuns& lifted, std::vector<PreemptUnit>& units) {
    std::size_t count = 0;
    std::optional<std::vector<FoundPlace>> found;
    for (std::size_t more = 1; !found && count < units.size(); more *= 2) {
        for (std::size_t i = 0; i < more && count < units.size(); ++i) lifted.lift(units[count++]);
        found = find_places(group, key);
    }
    if (!found) return false;
    units.resize(count);
    std::set<NodeIndex> wanted;
    for (const FoundPlace& place : *found) {
        for (const model::NodeGrant& grant : place.allocation.nodes)
            wanted.insert(*node_index(grant.node));
    }
    std::erase_if(units, [&](const PreemptUnit& unit) {
        const bool away = std::ranges::none_of(
            unit.holds, [&](const auto& hold) { return wanted.contains(hold.first); });
        if (away) lifted.put_back(unit);
        return away;
    });
    for (std::size_t i = units.size(); i-- > 0;) {
        lifted.put_back(units[i]);
        if (find_places(group, key)) {
            units.erase(units.begin() + static_cast<std::ptrdiff_t>(i));
        } else {
            lifted.lift(units[i]);
        }
    }
    return true;
}

// A component whose partition does not come before theirs has no part in what others leave for its
// sisters.
bool Cluster::Impl::may_take(const std::vector<FoundPlace>& found,
                             const std::vector<PreemptUnit>& units) const {
    for (const FoundPlace& place : found) {
        const std::uint32_t tier = partitions_[place.partition].priority_tier;
        for (const PreemptUnit& unit : units) {
            for (const auto& [node, id] : unit.holds) {
                if (preemptable_.find(id)->tier >= tier &&
                    place.allocation.find(pool_.node(node).name) != nullptr)
                    return false;
            }
        }
    }
    return true;
}

// True if somebody goes for it.
bool Cluster::Impl::try_preempt(const sched::Group& group, sched::QueueKey key) {
    if (!has_licenses(jobs_.at(key.job)) || !is_next(group, key)) return false;
    heed_those_ahead(group.partition, key);
    std::vector<PreemptUnit> units;
    std::set<JobId> victims;
    std::optional<std::vector<FoundPlace>> found;
    {
        LiftedRuns lifted(pool_);
        victims = lift_leaving(lifted, key.job);
        found = find_places(group, key);
        if (!found && victims.empty()) {
            units = preemptable_for(group, key);
            if (choose_victims(group, key, lifted, units)) found = find_places(group, key);
        }
    }
    if (!found || !may_take(*found, units)) return false;
    if (units.empty()) {
        // It only has to wait. For those who leave because of it the room is kept.
        if (!victims.empty()) keep_claim(group, key, *found, std::move(victims));
        return false;
    }
    for (const PreemptUnit& unit : units) {
        if (unit.mode != model::PreemptMode::Suspend)
            victims.insert(unit.jobs.begin(), unit.jobs.end());
    }
    for (const PreemptUnit& unit : units) preempt(unit, key.job);
    std::erase_if(victims, [&](JobId id) { return !leaving_.contains(id); });
    keep_claim(group, key, *found, std::move(victims));
    return true;
}

// With nobody passing anybody only who is first of all may take something.
bool Cluster::Impl::is_next(const sched::Group& group, sched::QueueKey key) const {
    for (PartitionIndex p = 0; !settings_.backfill && p < partitions_.size(); ++p) {
        const auto front = queue_.front(p);
        if (front && *front < key && pool_.overlap(p, group.partition)) return false;
    }
    return true;
}

void Cluster::Impl::look_for_room_at(Instant at) {
    if (!preempt_again_ || at < *preempt_again_) preempt_again_ = at;
}

void Cluster::Impl::preempt_for_waiting() {
    const bool due = preempt_again_ && *preempt_again_ <= now_;
    if (!settings_.preempt.by_tier || (!preempt_is_stale_ && !due)) {
        if (due) preempt_again_.reset();
        return;
    }
    preempt_is_stale_ = false;
    preempt_again_.reset();
    for (const auto& [id, claim] : claims_) {
        if (!lenders_.contains(id)) look_for_room_at(claim.expires);
    }
    // For some no room is kept though others leave for them: after a restart, or another change.
    std::set<JobId> owed;
    for (const JobId id : leaving_) {
        const auto& preempted = model::run_of(jobs_.at(id))->preempted;
        if (preempted && !claims_.contains(preempted->by)) owed.insert(preempted->by);
    }
    for (const JobId id : owed) {
        for (PartitionIndex p = 0; p < partitions_.size() && !claims_.contains(id); ++p) {
            if (const sched::Group* group = queue_.group_of(id, p))
                try_preempt(*group, key_of(jobs_.at(id), partitions_[p]));
        }
    }
    std::set<std::uint32_t> failed;  // Groups.
    std::uint32_t tries = 0, looked = 0;
    auto at = std::exchange(preempt_from_, std::nullopt);
    while (const auto stand = queue_.next_behind(at)) {
        const auto& [key, partition] = *stand;
        const auto lowest = preemptable_.lowest_tier();
        if (!lowest || key.tier <= *lowest) break;
        if (++looked > kPreemptLooksMax || tries == kPreemptTriesMax) {
            preempt_from_ = at;
            preempt_is_stale_ = more_to_do_ = true;
            break;
        }
        at = stand;
        const sched::Group* group = queue_.group_of(key.job, partition);
        if (claims_.contains(key.job) || group == nullptr || failed.contains(group->id)) continue;
        ++tries;
        const std::uint32_t id = group->id;
        if (!try_preempt(*group, key)) failed.insert(id);
    }
    serve_claims();
}

// Part of check_invariants().
void Cluster::Impl::check_preemption() const {
    for (const auto& [id, claim] : claims_) SY_ASSERT(jobs_.contains(id));
    for (const JobId id : leaving_) {
        const Job& job = jobs_.at(id);
        SY_ASSERT(std::holds_alternative<model::Completing>(job.phase) || leaves_with_grace(job));
    }
    for (const auto& [id, job] : jobs_) {
        const auto* suspended = std::get_if<model::Suspended>(&job.phase);
        const bool lends = suspended != nullptr && suspended->run.preempted &&
                           suspended->run.preempted->lends_cores;
        SY_ASSERT(lends == lenders_.contains(id));
        const bool runs = std::holds_alternative<model::Running>(job.phase);
        SY_ASSERT(runs || !preemptable_.contains(id));
        SY_ASSERT(!leaves_with_grace(job) || leaving_.contains(id));
    }
}

}  // namespace switchyard::core
