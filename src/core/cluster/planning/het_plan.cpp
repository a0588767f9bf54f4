// het_plan.cpp: backfill reservations for a heterogeneous job that must wait: for all components
// from one moment on.
//
// None can begin with the others before the latest of them could begin alone; from there on all are
// tried beside each other, and whoever must begin later than the rest says where to try next. Each
// round costs a plan for every component, so a long search goes on in the next part of the plan.

#include <algorithm>
#include <utility>

#include "core/cluster/planning/backfill_places.hpp"
#include "core/cluster/planning/het_places.hpp"

namespace switchyard::core {
namespace {

// In a plan; and at once, for one that somebody would pass.
constexpr std::uint32_t kRoundsMax = 100;
constexpr std::uint32_t kRoundsAtOnceMax = 8;

// As its sisters see it while places are looked for, whatever tiers they have.
constexpr sched::QueueKey kBeforeSisters{UINT32_MAX, UINT32_MAX, 0, JobId{0}};

void drop_all(sched::BackfillReservations& reserved, const sched::NodePool& pool,
              const std::vector<PlannedPart>& parts, JobId leader) {
    for (const PlannedPart& part : parts) {
        for (const sched::Pick& pick : part.planned.picks)
            reserved.drop(pick.node, pool.node(pick.node).places, leader);
    }
}

// The start and the nodes of all of them.
sched::Planned as_one(const std::vector<PlannedPart>& parts) {
    sched::Planned all;
    for (const PlannedPart& part : parts) {
        all.start = part.planned.start;
        all.picks.insert(all.picks.end(), part.planned.picks.begin(), part.planned.picks.end());
    }
    return all;
}

}  // namespace

HetPlaces::Places HetPlaces::places_of(const Component& component, const PlannedPart& part,
                                       sched::QueueKey key, JobId leader) const {
    Places places;
    const sched::Demand& demand = component.in(part.partition)->demand;
    for (const sched::Pick& pick : part.planned.picks) {
        places.emplace_back(
            pick.node, reserved_for(world_.pool, demand, component.limit, key, part.planned, pick));
        places.back().second.job = leader;
    }
    return places;
}

// In the partition where it can begin first.
std::optional<PlannedPart> HetPlaces::plan_component(const Component& component,
                                                     sched::Planner& planner) {
    std::optional<PlannedPart> best;
    for (const Component::Where& where : component.where) {
        auto planned = planner.plan(0, where.partition, where.demand, component.limit, where.key);
        if (planned && (!best || planned->start < best->planned.start))
            best = PlannedPart{component.job, where.partition, *std::move(planned)};
    }
    return best;
}

// All of them at one moment, which each of `alone` has found for itself. True if they have places
// beside each other, in `parts`; else `next` is the first moment at which one that had none has
// one.
bool HetPlaces::plan_beside(const std::vector<Component>& components, JobId leader,
                            const std::vector<PlannedPart>& alone, sched::Planner& planner,
                            sched::BackfillReservations& reserved, std::vector<PlannedPart>& parts,
                            std::optional<Instant>& next) const {
    const Instant from = alone.front().planned.start;
    const bool found = in_some_order(
        components.size(),
        [&](const std::vector<std::size_t>& order) -> std::optional<std::size_t> {
            parts.clear();
            std::optional<std::size_t> failed;
            for (std::size_t i = 0; i < order.size() && !failed; ++i) {
                const Component& component = components[order[i]];
                auto part = i == 0 ? alone[order[i]] : plan_component(component, planner);
                if (part && part->planned.start == from) {
                    for (auto& [node, place] : places_of(component, *part, kBeforeSisters, leader))
                        reserved.add(node, world_.pool.node(node).places, std::move(place));
                    parts.push_back(*std::move(part));
                    continue;
                }
                failed = i;
                if (part && (!next || part->planned.start < *next)) next = part->planned.start;
            }
            drop_all(reserved, world_.pool, parts, leader);
            return failed;
        });
    if (found) std::ranges::sort(parts, {}, &PlannedPart::job);
    return found;
}

// Goes on until it is known, or there were too many rounds or looks at nodes.
HetPlaces::Search HetPlaces::search_start(const std::vector<Component>& components,
                                          CommonStart& search,
                                          sched::BackfillReservations& reserved,
                                          const SearchBounds& bounds,
                                          std::vector<PlannedPart>& parts) const {
    while (search.rounds++ < bounds.rounds) {
        if (search.looked_at > bounds.looks) return Search::Later;
        sched::Planner planner(world_.pool, reserved, world_.now,
                               {.from = search.from, .horizon = bounds.horizon});
        std::vector<PlannedPart> alone;
        Instant latest = search.from;
        for (const Component& component : components) {
            auto part = plan_component(component, planner);
            if (!part) break;
            latest = std::max(latest, part->planned.start);
            alone.push_back(*std::move(part));
        }
        std::optional<Instant> next;
        const bool agreed = alone.size() == components.size() && latest == search.from;
        const bool found =
            agreed && plan_beside(components, search.leader, alone, planner, reserved, parts, next);
        search.looked_at += planner.looked_at();
        if (found) return Search::Found;
        if (alone.size() < components.size() || (agreed && !next)) return Search::Never;
        search.from = agreed ? *next : latest;
    }
    return Search::Never;
}

// Adds the places of all of them; none if `check` shows that one of them cannot be any more.
bool HetPlaces::keep(const std::vector<Component>& components,
                     const std::vector<PlannedPart>& parts, JobId leader,
                     sched::BackfillReservations& reserved, sched::Outlook* check) const {
    bool good = components.size() == parts.size();
    for (std::size_t i = 0; good && i < parts.size(); ++i) {
        const Component::Where* where = components[i].in(parts[i].partition);
        good = where != nullptr && components[i].job == parts[i].job;
        if (!good) break;
        // Behind its sisters, before everybody whom the leader is before.
        sched::QueueKey own = where->key;
        own.job = parts[i].job;
        good = check == nullptr || still_holds(world_, own, parts[i].planned, where->demand,
                                               components[i].limit, *check);
        if (!good) break;
        for (auto& [node, place] : places_of(components[i], parts[i], own, leader))
            reserved.add(node, world_.pool.node(node).places, std::move(place));
    }
    if (!good) drop_all(reserved, world_.pool, parts, leader);
    return good;
}

// For one that somebody would pass, now.
std::optional<BackfillReservation> HetPlaces::reserve(const Job& leader, sched::QueueKey key) {
    const std::vector<Component> components = components_to_place(leader);
    sched::BackfillReservations beside = world_.pool.reservations();
    CommonStart search{leader.id, world_.now, 0, 0};
    std::vector<PlannedPart> parts;
    const SearchBounds bounds{.horizon = Instant::max(), .rounds = kRoundsAtOnceMax};
    const bool found = search_start(components, search, beside, bounds, parts) == Search::Found;
    if (found) estimate_starts(parts);
    // What fits now by count but not by piece is not held back for.
    if (!found || search.from <= world_.now) return std::nullopt;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        sched::QueueKey own = components[i].in(parts[i].partition)->key;
        own.job = parts[i].job;
        for (auto& [node, place] : places_of(components[i], parts[i], own, leader.id))
            world_.pool.reserve(node, std::move(place));
    }
    return BackfillReservation{key, 0, as_one(parts), std::move(parts)};
}

void HetPlaces::estimate_starts(const std::vector<PlannedPart>& parts) {
    for (const PlannedPart& part : parts) estimate_start(world_, part.job, part.planned);
}

// A heterogeneous job is planned where it stands last, when all are planned who are ahead of any
// component.
bool HetPlaces::stands_below(sched::QueueKey key) const {
    if (!hets_.contains(key.job)) return false;
    for (PartitionIndex p = 0; p < world_.partitions.size(); ++p) {
        if (world_.partitions[p].priority_tier < key.tier && queue_.group_of(key.job, p) != nullptr)
            return true;
    }
    return false;
}

// The places that the present plan has for them, if they are good enough for the next one too: then
// they are in it.
bool HetPlaces::kept_from_before(PlanInMaking& plan, sched::QueueKey key,
                                 const BackfillReservation* before,
                                 const std::vector<Component>& components,
                                 std::vector<PlannedPart>& parts) const {
    if (before == nullptr || plan.is_renewed()) return false;
    parts = before->parts;
    plan.checked += before->planned.picks.size();
    return keep(components, parts, key.job, plan.reserved, &plan.planner.outlook());
}

// Those between the first and the last of its stands are planned before it: they heed the places it
// has had so far.
void HetPlaces::foresee(PlanInMaking& plan, sched::QueueKey key,
                        const BackfillReservation* before) const {
    if (before == nullptr || plan.foreseen.contains(key.job)) return;
    const std::vector<Component> components = components_to_place(world_.jobs.at(key.job));
    const std::vector<PlannedPart>& parts = before->parts;
    plan.checked += before->planned.picks.size();
    if (keep(components, parts, key.job, plan.reserved, &plan.planner.outlook()))
        plan.foreseen.emplace(key.job, parts);
}

void HetPlaces::drop_foreseen(PlanInMaking& plan, JobId leader) const {
    const auto found = plan.foreseen.find(leader);
    if (found == plan.foreseen.end()) return;
    drop_all(plan.reserved, world_.pool, found->second, leader);
    plan.foreseen.erase(found);
}

// False: it goes on in the next part of the plan.
bool HetPlaces::add_to(PlanInMaking& plan, sched::QueueKey key, PartitionIndex partition,
                       std::uint64_t looks, const BackfillReservation* before) const {
    const std::vector<Component> components = components_to_place(world_.jobs.at(key.job));
    std::vector<PlannedPart> parts;
    drop_foreseen(plan, key.job);
    const bool fresh = !plan.common_start || plan.common_start->leader != key.job;
    if (fresh) plan.common_start = CommonStart{key.job, world_.now, 0, 0};
    bool waits = fresh && kept_from_before(plan, key, before, components, parts);
    if (!waits) {
        CommonStart& search = *plan.common_start;
        search.from = std::max(search.from, world_.now);
        const std::uint64_t looked_before = search.looked_at;
        const SearchBounds bounds{plan.horizon, kRoundsMax, looked_before + looks};
        const Search result = search_start(components, search, plan.reserved, bounds, parts);
        plan.checked += search.looked_at - looked_before;
        if (result == Search::Later) return false;
        if (result == Search::Never) parts.clear();
        waits = !parts.empty() && search.from > world_.now &&
                keep(components, parts, key.job, plan.reserved, nullptr);
    }
    plan.common_start.reset();
    if (parts.empty()) return true;
    const bool binds = waits && !plan.is_full(partition);
    if (binds) ++plan.kept[partition];
    plan.entries.push_back({key, partition, as_one(parts), std::move(parts), waits, binds});
    return true;
}

}  // namespace switchyard::core
