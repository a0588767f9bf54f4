// preemption.cpp: a job of a higher tier that finds no room takes it from jobs of lower ones.
//
// Who has to go is found out on the pool itself: those in question are lifted from it, the job is
// placed as it would be placed if they had left, and whoever turns out not to be in its way is put
// back, the most important first. What is so found is held for the job against everybody until the
// others have left. The records of those say for whom they left, so that a restart finds out again
// what was held, and nobody is made to leave twice.

#include "core/cluster/planning/preemption.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "core/cluster/planning/find_room.hpp"

namespace switchyard::core {
namespace {

// Of those that may have to go, so many are looked at for one job.
constexpr std::size_t kUnitsMax = 1000;
// Jobs of so many groups are tried in one pass; the next one goes on behind them.
constexpr std::uint32_t kPreemptTriesMax = 50;
constexpr std::uint32_t kPreemptLooksMax = 1000;

}  // namespace

std::optional<std::vector<FoundPlace>> Preemption::find_places(const sched::Group& group,
                                                               sched::QueueKey key) {
    const Job& job = world_.jobs.at(key.job);
    if (job.het) return het_.find_places(job);
    const sched::View view{.start = world_.now,
                           .end = world_.now + sched::limit_of(group),
                           .key = key,
                           .uid = job.spec->uid};
    Try tried;
    auto allocation = find_room(world_.pool, group, view, tried);
    const auto licenses = allocation ? licenses_.find(job, tried.owner) : std::nullopt;
    if (!licenses) return std::nullopt;
    std::vector<FoundPlace> found;
    found.push_back({job.id, group.partition, *std::move(allocation), {tried.owner, *licenses}});
    return found;
}

// Those who leave anyway are as good as gone, unless they are overdue. Returns those of them who
// leave for this job.
std::set<JobId> Preemption::lift_leaving(LiftedRuns& lifted, JobId waiting) {
    std::set<JobId> for_it;
    for (const JobId id : leaving_) {
        const Job& job = world_.jobs.at(id);
        std::vector<std::string> nodes;
        if (const auto* completing = std::get_if<model::Completing>(&job.phase)) {
            const Instant overdue = completing->ended + world_.settings.kill_wait + kEndJobRepeat;
            if (overdue <= world_.now) continue;
            look_again_at(overdue);
            nodes = completing->dirty_nodes;
        } else {
            nodes = model::allocation_of(job)->node_names();
        }
        for (const std::string& name : nodes) {
            if (const auto node = world_.node_index(name)) lifted.lift(*node, id, false);
        }
        const auto& preempted = model::run_of(job)->preempted;
        if (preempted && preempted->by == waiting) for_it.insert(id);
    }
    return for_it;
}

// A job with all that must go with it; none: it may not be preempted (yet) by one of this tier.
std::optional<PreemptUnit> Preemption::unit_of(const Job& job, std::uint32_t tier) {
    PreemptUnit unit;
    for (const JobId id : hets_.live_components(hets_.leader_of(job))) {
        const Job& part = world_.jobs.at(id);
        const RunRank* rank = preemptable_.find(id);
        if (rank == nullptr || rank->tier >= tier) return std::nullopt;
        const Instant from = *preemptable_from(part, *model::start_of(part));
        if (from > world_.now) {
            look_again_at(from);
            return std::nullopt;
        }
        unit.jobs.push_back(id);
        unit.mode = std::max(unit.mode, mode_of(part));
        for (const model::NodeGrant& grant : model::allocation_of(part)->nodes) {
            if (const auto node = world_.node_index(grant.node)) unit.holds.emplace_back(*node, id);
        }
    }
    return unit;
}

std::vector<PreemptUnit> Preemption::preemptable_for(const sched::Group& group,
                                                     sched::QueueKey key) {
    const Job& waiting = world_.jobs.at(key.job);
    const std::vector<Component> components =
        waiting.het ? het_.components_to_place(waiting) : std::vector<Component>();
    const auto serves = [&](const RunRank& rank) {
        if (!waiting.het) return world_.pool.overlap(rank.partition, group.partition);
        return std::ranges::any_of(components, [&](const Component& component) {
            return std::ranges::any_of(component.where, [&](const Component::Where& where) {
                return rank.tier < world_.partitions[where.partition].priority_tier &&
                       world_.pool.overlap(rank.partition, where.partition);
            });
        });
    };
    std::vector<PreemptUnit> units;
    std::set<JobId> seen;
    for (const RunRank& rank : preemptable_.in_order()) {
        if (rank.tier >= key.tier || units.size() == kUnitsMax) break;
        if (!serves(rank)) continue;
        const Job& job = world_.jobs.at(rank.job);
        if (!seen.insert(hets_.leader_of(job).id).second) continue;
        if (auto unit = unit_of(job, key.tier)) units.push_back(*std::move(unit));
    }
    return units;
}

// Lifts, from the least important on, until the job fits; then puts back whoever it can spare, from
// the most important on. Leaves those lifted that have to go.
bool Preemption::choose_victims(const sched::Group& group, sched::QueueKey key, LiftedRuns& lifted,
                                std::vector<PreemptUnit>& units) {
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
            wanted.insert(*world_.node_index(grant.node));
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
bool Preemption::may_take(const std::vector<FoundPlace>& found,
                          const std::vector<PreemptUnit>& units) const {
    for (const FoundPlace& place : found) {
        const std::uint32_t tier = world_.partitions[place.partition].priority_tier;
        for (const PreemptUnit& unit : units) {
            for (const auto& [node, id] : unit.holds) {
                if (preemptable_.find(id)->tier >= tier &&
                    place.allocation.find(world_.pool.node(node).name) != nullptr)
                    return false;
            }
        }
    }
    return true;
}

// True if somebody goes for it.
bool Preemption::try_preempt(const sched::Group& group, sched::QueueKey key) {
    if (!licenses_.has_for(world_.jobs.at(key.job)) || !is_next(group, key)) return false;
    backfill_.protect_those_ahead(group.partition, key);
    std::vector<PreemptUnit> units;
    std::set<JobId> victims;
    std::optional<std::vector<FoundPlace>> found;
    {
        LiftedRuns lifted(world_.pool);
        victims = lift_leaving(lifted, key.job);
        found = find_places(group, key);
        if (!found && victims.empty()) {
            units = preemptable_for(group, key);
            if (choose_victims(group, key, lifted, units)) found = find_places(group, key);
        }
    }
    if (!found || !may_take(*found, units)) return false;
    if (units.empty()) {
        // It only has to wait. What they leave because of it is held for it.
        if (!victims.empty()) hold_places(group, key, *found, std::move(victims));
        return false;
    }
    for (const PreemptUnit& unit : units) {
        if (unit.mode != model::PreemptMode::Suspend)
            victims.insert(unit.jobs.begin(), unit.jobs.end());
    }
    for (const PreemptUnit& unit : units) preempt(unit, key.job);
    std::erase_if(victims, [&](JobId id) { return !leaving_.contains(id); });
    hold_places(group, key, *found, std::move(victims));
    return true;
}

void Preemption::hold_places(const sched::Group& group, sched::QueueKey key,
                             const std::vector<FoundPlace>& found, std::set<JobId> victims) {
    backfill_.drop(key.job);
    drop_hold(key.job);
    PreemptionHold hold;
    hold.partition = group.partition;
    hold.victims = std::move(victims);
    Instant left = world_.now;
    for (const JobId id : hold.victims)
        left = std::max(left, holdings_.held_until(world_.jobs.at(id)));
    hold.expires = left + kEndJobRepeat;
    constexpr sched::QueueKey kBeforeAll{UINT32_MAX, UINT32_MAX, 0, JobId{0}};
    for (const FoundPlace& place : found) {
        const JobSpec& spec = *world_.jobs.at(place.job).spec;
        const sched::Shape shape =
            sched::shape_of(spec, world_.partitions[place.partition], world_.settings);
        for (const model::NodeGrant& grant : place.allocation.nodes) {
            const NodeIndex node = *world_.node_index(grant.node);
            sched::Reserved reserved;
            reserved.key = kBeforeAll;
            reserved.job = key.job;
            reserved.from = world_.now;
            reserved.until = hold.expires + limit_of(spec);
            reserved.room = world_.pool.room_of(node, grant);
            reserved.whole = shape.whole_nodes;
            reserved.owner = place.terms.owner;
            hold.places.emplace_back(node, std::move(reserved));
        }
    }
    const bool waits = !hold.victims.empty();
    holds_.put(key.job, std::move(hold));
    if (!waits) return;
    for (const FoundPlace& place : found) {
        auto& pending = std::get<model::Pending>(world_.jobs.at(place.job).phase);
        pending.planned_start = left;
        pending.planned_nodes = place.allocation.node_names();
    }
    reasons_.set(world_.jobs.at(key.job), group.partition);
}

// With nobody passing anybody only who is first of all may take something.
bool Preemption::is_next(const sched::Group& group, sched::QueueKey key) const {
    for (PartitionIndex p = 0; !world_.settings.backfill && p < world_.partitions.size(); ++p) {
        const auto front = queue_.front(p);
        if (front && *front < key && world_.pool.overlap(p, group.partition)) return false;
    }
    return true;
}

// Whether it is time to look at who waits.
bool Preemption::is_due() {
    const bool due = again_ && *again_ <= world_.now;
    if (world_.settings.preempt.by_tier && (is_stale_ || due)) return true;
    if (due) again_.reset();
    return false;
}

// Makes room for those who find none. True: there is more to do, in the next pass.
bool Preemption::preempt_for_waiting() {
    is_stale_ = false;
    again_.reset();
    for (const auto& [id, hold] : holds_.all()) {
        if (!lending_.contains(id)) look_again_at(hold.expires);
    }
    // Some have no hold though others leave for them: after a restart, or another change.
    std::set<JobId> owed;
    for (const JobId id : leaving_) {
        const auto& preempted = model::run_of(world_.jobs.at(id))->preempted;
        if (preempted && !holds_.contains(preempted->by)) owed.insert(preempted->by);
    }
    for (const JobId id : owed) {
        for (PartitionIndex p = 0; p < world_.partitions.size() && !holds_.contains(id); ++p) {
            if (const sched::Group* group = queue_.group_of(id, p))
                try_preempt(*group, key_of(world_.jobs.at(id), world_.partitions[p]));
        }
    }
    std::set<std::uint32_t> failed;  // Groups.
    std::uint32_t tries = 0, looked = 0;
    auto at = std::exchange(from_, std::nullopt);
    while (const auto stand = queue_.next_behind(at)) {
        const auto& [key, partition] = *stand;
        const auto lowest = preemptable_.lowest_tier();
        if (!lowest || key.tier <= *lowest) break;
        if (++looked > kPreemptLooksMax || tries == kPreemptTriesMax) {
            from_ = at;
            return is_stale_ = true;
        }
        at = stand;
        const sched::Group* group = queue_.group_of(key.job, partition);
        if (holds_.contains(key.job) || group == nullptr || failed.contains(group->id)) continue;
        ++tries;
        const std::uint32_t id = group->id;
        if (!try_preempt(*group, key)) failed.insert(id);
    }
    return false;
}

}  // namespace switchyard::core
