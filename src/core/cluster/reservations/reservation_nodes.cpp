// reservation_nodes.cpp: which nodes a reservation has: those named, all, those of a partition, or
// so many as are free for it; and others in the place of those that fail.

#include "core/cluster/reservations/reservation_nodes.hpp"

#include <algorithm>
#include <iterator>

#include "core/cluster/reservations/occurrence.hpp"
#include "model/features.hpp"

namespace switchyard::core {
namespace {

using model::Reservation;
using model::ReservationFlag;
using model::ReservationUpdate;

bool may_overlap(const Reservation& reservation) {
    return reservation.is(ReservationFlag::Maint) || reservation.is(ReservationFlag::Overlap);
}

bool overlap(const std::vector<Occurrence>& a, const std::vector<Occurrence>& b) {
    return std::ranges::any_of(a, [&](const Occurrence& one) {
        return std::ranges::any_of(b, [&](const Occurrence& other) {
            return one.start < other.end && other.start < one.end;
        });
    });
}

bool contains(const std::vector<std::string>& list, const std::string& value) {
    return std::ranges::find(list, value) != list.end();
}

bool is_all(const std::vector<std::string>& names) {
    return names.size() == 1 && names.front() == "ALL";
}

bool changes_nodes(const ReservationUpdate& update) {
    return !update.nodes_added.empty() || !update.nodes_removed.empty();
}

// "Nodes+=" and "Nodes-=".
std::vector<std::string> changed(const Reservation& reservation, const ReservationUpdate& update) {
    std::vector<std::string> names = reservation.nodes;
    names.insert(names.end(), update.nodes_added.begin(), update.nodes_added.end());
    std::erase_if(names,
                  [&](const std::string& name) { return contains(update.nodes_removed, name); });
    return names;
}

void marked_as(Reservation& reservation, model::ReservationFlags set) {
    reservation.flags &= ~(bit(ReservationFlag::SpecNodes) | bit(ReservationFlag::AllNodes));
    reservation.flags |= set;
}

// Whether both have something of a node that is in both of them.
bool meet_on(const Reservation& a, const Reservation& b, const std::string& node) {
    if (a.has_whole_nodes() || b.has_whole_nodes()) return true;
    const auto cores = a.cores.find(node);
    return cores != a.cores.end() && cores->second.intersects(b.cores.at(node));
}

}  // namespace

// Other reservations at the same time that it must keep clear of.
std::vector<const Reservation*> ReservationNodes::rivals_of(const Reservation& reservation) const {
    std::vector<const Reservation*> rivals;
    if (may_overlap(reservation)) return rivals;
    const auto mine = occurrences_of(reservation, world_.now);
    for (const auto& [name, other] : all_) {
        // One that was made to lie over others is no hindrance to them.
        if (other.id == reservation.id || other.is(ReservationFlag::Overlap)) continue;
        if (overlap(mine, occurrences_of(other, world_.now))) rivals.push_back(&other);
    }
    return rivals;
}

// Nodes that other reservations have at the same time, or the same cores of them.
std::set<std::string> ReservationNodes::nodes_taken(const Reservation& reservation) const {
    std::set<std::string> taken;
    for (const Reservation* rival : rivals_of(reservation)) {
        for (const std::string& node : rival->nodes) {
            if (meet_on(reservation, *rival, node)) taken.insert(node);
        }
    }
    return taken;
}

// Whether this is a job that is not in the reservation, and is still there when it begins.
bool ReservationNodes::holds_at_start(const Reservation& reservation,
                                      const sched::Holding& holding) const {
    const model::Running* run = model::run_of(world_.jobs.at(holding.job));
    return holding.until > std::max(world_.now, reservation.start) &&
           (run == nullptr || run->reservation != reservation.name);
}

bool ReservationNodes::held_at_start(const Reservation& reservation, NodeIndex node) const {
    return std::ranges::any_of(world_.pool.node(node).holdings, [&](const sched::Holding& holding) {
        return holds_at_start(reservation, holding);
    });
}

// What is picked is picked from one partition.
void ReservationNodes::settle_partition(Reservation& reservation) const {
    if (!reservation.partition.empty()) return;
    const auto fallback = std::ranges::find_if(world_.partitions, &model::Partition::is_default);
    if (fallback != world_.partitions.end()) reservation.partition = fallback->name;
}

// All nodes that fit, and of these, those that are up and free at the time, beside `kept`.
Result<ReservationNodes::Candidates> ReservationNodes::candidates_for(
    const Reservation& reservation, const std::vector<std::string>& kept) const {
    SY_TRY(const model::Constraint features, model::Constraint::parse(reservation.features));
    const std::set<std::string> taken = nodes_taken(reservation);
    const std::optional<PartitionIndex> from = world_.partition_index(reservation.partition);
    if (!from) return fail(Errc::InvalidPartition);
    Candidates found;
    std::vector<std::string> busy;
    for (const NodeIndex node : world_.pool.order(*from)) {
        const std::string& name = world_.nodes[node].config.name;
        if (contains(kept, name)) continue;
        if (!features.empty() && !features.matches(world_.nodes[node].config.active())) continue;
        ++found.fit;
        if (!world_.pool.node(node).usable || taken.contains(name)) continue;
        (held_at_start(reservation, node) ? busy : found.free).push_back(name);
    }
    if (reservation.ignores_jobs()) found.free.insert(found.free.end(), busy.begin(), busy.end());
    return found;
}

// So many nodes; those of `kept` first.
Result<std::vector<std::string>> ReservationNodes::pick_nodes(
    const Reservation& reservation, std::uint32_t count,
    const std::vector<std::string>& kept) const {
    SY_TRY(const Candidates found, candidates_for(reservation, kept));
    if (kept.size() + found.fit == 0) return fail(Errc::NodeConfigUnavailable);
    if (kept.size() + found.free.size() < count) return fail(Errc::NodesBusy);
    std::vector<std::string> names = kept;
    names.insert(names.end(), found.free.begin(), found.free.end());
    names.resize(count);
    return names;
}

Result<std::vector<std::string>> ReservationNodes::all_nodes(const Reservation& reservation) const {
    if (!reservation.partition.empty()) {
        const auto index = world_.partition_index(reservation.partition);
        if (!index) return fail(Errc::InvalidPartition);
        return world_.partitions[*index].nodes;
    }
    if (reservation.is(ReservationFlag::PartNodes)) return fail(Errc::InvalidPartition);
    std::vector<std::string> names;
    for (const model::Node& node : world_.nodes) names.push_back(node.config.name);
    return names;
}

void ReservationNodes::sort_nodes(std::vector<std::string>& names) const {
    std::ranges::sort(names, {}, [&](const std::string& name) {
        return world_.node_index(name).value_or(static_cast<NodeIndex>(world_.nodes.size()));
    });
    const auto repeated = std::ranges::unique(names);
    names.erase(repeated.begin(), repeated.end());
}

// Those of these names, or all; the flags say which.
Result<std::vector<std::string>> ReservationNodes::named_nodes(
    Reservation& reservation, const std::vector<std::string>& names) const {
    marked_as(reservation, bit(ReservationFlag::SpecNodes));
    if (is_all(names)) {
        if (!reservation.is(ReservationFlag::PartNodes))
            reservation.flags |= bit(ReservationFlag::AllNodes);
        return all_nodes(reservation);
    }
    for (const std::string& name : names) {
        if (!world_.node_index(name)) return fail(Errc::InvalidNodeName);
    }
    std::vector<std::string> sorted = names;
    sort_nodes(sorted);
    return sorted;
}

// The nodes that an update asks for; none: they stay.
Result<std::optional<std::vector<std::string>>> ReservationNodes::wanted_nodes(
    Reservation& reservation, const ReservationUpdate& update, bool fresh) const {
    using Names = std::optional<std::vector<std::string>>;
    const bool names_nodes = update.nodes && !update.nodes->empty();
    const bool of_partition = fresh && !update.nodes && !update.node_count &&
                              !reservation.partition.empty() &&
                              !reservation.is(ReservationFlag::AnyNodes);
    if (names_nodes || changes_nodes(update)) {
        SY_TRY(auto names, named_nodes(reservation,
                                       names_nodes ? *update.nodes : changed(reservation, update)));
        if (names.empty()) return fail(Errc::InvalidReservation);
        reservation.node_count.reset();
        return Names(std::move(names));
    }
    if (of_partition) {
        SY_TRY(auto names, all_nodes(reservation));
        marked_as(reservation, bit(ReservationFlag::SpecNodes) | bit(ReservationFlag::PartNodes));
        return Names(std::move(names));
    }
    // "Nodes=": as many as before, any.
    const bool any = update.nodes && !fresh;
    if (update.node_count || any) {
        const auto count =
            update.node_count.value_or(static_cast<std::uint32_t>(reservation.nodes.size()));
        if (count == 0 && reservation.licenses.empty())
            return fail(fresh ? Errc::InvalidNodeName : Errc::InvalidReservation);
        std::vector<std::string> kept = any ? std::vector<std::string>() : reservation.nodes;
        if (kept.size() > count) kept.resize(count);
        settle_partition(reservation);
        SY_TRY(auto names, pick_nodes(reservation, count, kept));
        marked_as(reservation, 0);
        reservation.node_count = count;
        return Names(std::move(names));
    }
    if (fresh && !(reservation.is(ReservationFlag::AnyNodes) && !reservation.licenses.empty()))
        return fail(Errc::InvalidNodeName);
    return Names();
}

Status ReservationNodes::settle(Reservation& reservation, const ReservationUpdate& update,
                                const Reservation* old) const {
    const bool replaces =
        reservation.is(ReservationFlag::Replace) || reservation.is(ReservationFlag::ReplaceDown);
    if (replaces && (update.core_count || !reservation.has_whole_nodes()))
        return fail(Errc::InvalidCpuCount);
    if (replaces && update.nodes && !update.nodes->empty()) return fail(Errc::InvalidNodeName);
    const bool part_of_all = update.nodes && is_all(*update.nodes);
    if (old == nullptr && reservation.is(ReservationFlag::PartNodes) && !part_of_all)
        return fail(Errc::InvalidNodeName);
    const bool elsewhere = update.nodes || update.node_count || changes_nodes(update);
    if (old != nullptr && (update.core_count || (elsewhere && !old->has_whole_nodes())))
        return fail(Errc::CoreReservationFixed);
    if (update.core_count) return settle_cores(reservation, update);
    auto wanted = wanted_nodes(reservation, update, old == nullptr);
    if (!wanted && old != nullptr && wanted.error().code == Errc::InvalidNodeName)
        return fail(Errc::InvalidReservation);
    SY_TRY(auto names, std::move(wanted));
    if (names) {
        sort_nodes(*names);
        reservation.nodes = std::move(*names);
    }
    const bool moved = old == nullptr || names || old->start != reservation.start ||
                       old->end != reservation.end || old->flags != reservation.flags;
    const std::set<std::string> taken = moved ? nodes_taken(reservation) : std::set<std::string>();
    for (const std::string& name : reservation.nodes) {
        if (taken.contains(name)) return fail(Errc::ReservationOverlap);
        const bool had = old != nullptr && contains(old->nodes, name);
        if (!reservation.ignores_jobs() && !had &&
            held_at_start(reservation, *world_.node_index(name)))
            return fail(Errc::NodesBusy);
    }
    return {};
}

// Nodes that were picked and cannot serve are replaced by idle ones, as far as there are any. With
// REPLACE those too that jobs have come to hold.
bool ReservationNodes::replenish(Reservation& reservation) const {
    if (reservation.is(ReservationFlag::StaticAlloc) || !reservation.node_count) return false;
    // It is only there until the last of its jobs has ended.
    if (reservation.end <= world_.now && !reservation.recurs()) return false;
    if (!reservation.has_whole_nodes()) return replenish_cores(reservation);
    const auto serves = [&](const std::string& name) {
        const auto node = world_.node_index(name);
        if (!node || !world_.pool.node(*node).usable) return false;
        return !reservation.is(ReservationFlag::Replace) ||
               world_.pool.node(*node).holdings.empty();
    };
    std::vector<std::string> kept;
    std::ranges::copy_if(reservation.nodes, std::back_inserter(kept), serves);
    const std::size_t count = *reservation.node_count;
    if (kept.size() >= count) return false;
    settle_partition(reservation);
    const auto found = candidates_for(reservation, kept);
    if (!found || found->free.empty()) return false;
    std::vector<std::string> names = kept;
    for (const std::string& name : found->free) {
        if (names.size() < count && !contains(reservation.nodes, name)) names.push_back(name);
    }
    if (names.size() == kept.size()) return false;
    // What has no substitute stays.
    for (const std::string& name : reservation.nodes) {
        if (names.size() < count && !contains(names, name)) names.push_back(name);
    }
    sort_nodes(names);
    reservation.nodes = std::move(names);
    return true;
}

}  // namespace switchyard::core
