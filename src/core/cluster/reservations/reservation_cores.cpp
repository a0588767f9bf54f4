// reservation_cores.cpp: which cores a reservation has that was made for a number of them: on the
// nodes named, or on those of a partition, where no other reservation and no job is in the way.

#include <algorithm>
#include <span>
#include <utility>

#include "core/cluster/reservations/reservation_nodes.hpp"
#include "core/sched/node_pool.hpp"
#include "model/features.hpp"

namespace switchyard::core {
namespace {

using model::IndexSet;
using model::Reservation;
using model::ReservationFlag;
using model::ReservationUpdate;

std::uint64_t cores_in(std::span<const CoreOffer> offers) {
    std::uint64_t sum = 0;
    for (const CoreOffer& offer : offers) sum += offer.open.size();
    return sum;
}

// In turn from each socket, the lowest numbers first.
IndexSet spread_over_sockets(const sched::NodeEntry& node, IndexSet open, std::uint64_t count) {
    const std::uint32_t per_socket = std::max(1u, node.cores / std::max(1u, node.sockets));
    IndexSet chosen;
    while (chosen.size() < count && !open.empty()) {
        for (std::uint32_t first = 0; first < node.cores && chosen.size() < count;
             first += per_socket) {
            const IndexSet here = open.intersection(IndexSet::range(first, first + per_socket - 1));
            if (here.empty()) continue;
            chosen.insert(here.front());
            open.erase(here.front());
        }
    }
    return chosen;
}

// Of nodes that nobody named: those without jobs, if they are enough, then any; the first that
// come, or if they do not have so many cores, the largest. `nodes`: none: one for each core at
// most.
std::vector<CoreOffer> choose(std::vector<CoreOffer> offers, std::optional<std::uint32_t> nodes,
                              std::uint64_t cores) {
    std::ranges::sort(
        offers, {}, [](const CoreOffer& offer) { return std::pair(offer.has_jobs, offer.place); });
    const auto idle =
        static_cast<std::size_t>(std::ranges::count(offers, false, &CoreOffer::has_jobs));
    const bool idle_suffice = cores_in(std::span(offers).first(idle)) >= cores;
    const std::size_t most = idle_suffice && !nodes ? idle : offers.size();
    const std::size_t wanted =
        nodes.value_or(static_cast<std::uint32_t>(std::min<std::uint64_t>(cores, most)));
    if (wanted > offers.size()) return {};
    if (cores_in(std::span(offers).first(wanted)) < cores) {
        std::ranges::sort(offers, [](const CoreOffer& a, const CoreOffer& b) {
            return std::pair(a.open.size(), b.place) > std::pair(b.open.size(), a.place);
        });
    }
    offers.resize(wanted);
    std::ranges::sort(offers, {}, &CoreOffer::node);
    return offers;
}

}  // namespace

// What of the node it could have; none: the whole of it is another's.
std::optional<CoreOffer> ReservationNodes::offer_of(const Reservation& reservation,
                                                    NodeIndex index) const {
    const sched::NodeEntry& node = world_.pool.node(index);
    CoreOffer offer{.node = index};
    if (node.cores > 0) offer.open = IndexSet::range(0, node.cores - 1);
    for (const Reservation* rival : rivals_of(reservation)) {
        if (std::ranges::find(rival->nodes, node.name) == rival->nodes.end()) continue;
        if (rival->has_whole_nodes()) return std::nullopt;
        offer.open.erase(rival->cores.at(node.name));
    }
    for (const sched::Holding& holding : node.holdings) {
        if (!holds_at_start(reservation, holding)) continue;
        offer.has_jobs = true;
        if (!reservation.ignores_jobs()) offer.open.erase(holding.grant.cores);
    }
    return offer;
}

// Nodes that it might use, none of them named.
Result<std::vector<CoreOffer>> ReservationNodes::offers_for(const Reservation& reservation) const {
    SY_TRY(const model::Constraint features, model::Constraint::parse(reservation.features));
    const auto partition = world_.partition_index(reservation.partition);
    if (!partition) return fail(Errc::InvalidPartition);
    std::vector<CoreOffer> offers;
    for (const NodeIndex index : world_.pool.order(*partition)) {
        if (!world_.pool.node(index).usable) continue;
        if (!features.empty() && !features.matches(world_.nodes[index].config.active())) continue;
        auto offer = offer_of(reservation, index);
        if (!offer || offer->open.empty()) continue;
        offer->place = offers.size();
        offers.push_back(*std::move(offer));
    }
    return offers;
}

// Those that are named; all of them are needed.
Result<std::vector<CoreOffer>> ReservationNodes::named_offers(
    const Reservation& reservation) const {
    std::vector<CoreOffer> offers;
    for (const std::string& name : reservation.nodes) {
        const auto index = world_.node_index(name);
        if (!index) return fail(Errc::InvalidNodeName);
        auto offer = offer_of(reservation, *index);
        if (!offer) return fail(Errc::ReservationOverlap);
        const bool usable =
            world_.pool.node(*index).usable || reservation.is(ReservationFlag::Maint);
        if (offer->open.empty() || !usable) return fail(Errc::NodesBusy);
        offers.push_back(*std::move(offer));
    }
    std::ranges::sort(offers, {}, &CoreOffer::node);
    return offers;
}

// It is new, and for a number of cores. A reservation of cores belongs to a partition.
Status ReservationNodes::settle_cores(Reservation& reservation,
                                      const ReservationUpdate& update) const {
    if (reservation.is(ReservationFlag::AnyNodes)) return fail(Errc::InvalidCpuCount);
    const bool named = update.nodes && !update.nodes->empty();
    if (named) {
        SY_TRY(reservation.nodes, named_nodes(reservation, *update.nodes));
    }
    settle_partition(reservation);
    std::uint64_t cores = *update.core_count;
    std::uint64_t of_each = 0;
    std::vector<CoreOffer> offers;
    if (named) {
        if (update.cores_per_node) of_each = std::exchange(cores, cores * reservation.nodes.size());
        if (cores < reservation.nodes.size()) return fail(Errc::CoresFewerThanNodes);
        SY_TRY(offers, named_offers(reservation));
    } else {
        if (update.cores_per_node && update.node_count)
            of_each = std::exchange(cores, cores * *update.node_count);
        SY_TRY(offers, offers_for(reservation));
        std::erase_if(offers, [&](const CoreOffer& each) { return each.open.size() < of_each; });
        offers = choose(std::move(offers), update.node_count, cores);
        reservation.node_count = static_cast<std::uint32_t>(offers.size());
    }
    if (offers.empty() || cores_in(offers) < cores) return fail(Errc::NodesBusy);
    return take_cores(reservation, offers, cores, of_each);
}

// The first nodes are filled, one core is left for each node behind; or each has as many.
Status ReservationNodes::take_cores(Reservation& reservation, std::span<const CoreOffer> offers,
                                    std::uint64_t cores, std::uint64_t of_each) const {
    reservation.nodes.clear();
    reservation.cores.clear();
    for (std::size_t at = 0; at < offers.size(); ++at) {
        const CoreOffer& offer = offers[at];
        const std::uint64_t behind = offers.size() - at - 1;
        const std::uint64_t most = cores > behind ? cores - behind : 1;
        const std::uint64_t count =
            of_each > 0 ? of_each : std::min<std::uint64_t>(most, offer.open.size());
        if (count > offer.open.size()) return fail(Errc::NodesBusy);
        const sched::NodeEntry& node = world_.pool.node(offer.node);
        reservation.nodes.push_back(node.name);
        reservation.cores[node.name] = spread_over_sockets(node, offer.open, count);
        cores -= std::min(cores, count);
    }
    return cores == 0 ? Status{} : fail(Errc::NodesBusy);
}

// As many cores of another node take the place of those of one that cannot serve.
bool ReservationNodes::replenish_cores(Reservation& reservation) const {
    const std::vector<std::string> before = reservation.nodes;
    for (std::string& name : reservation.nodes) {
        const auto index = world_.node_index(name);
        if (index && world_.pool.node(*index).usable) continue;
        auto offers = offers_for(reservation);
        if (!offers) return false;
        const std::uint64_t count = reservation.cores.at(name).size();
        std::erase_if(*offers, [&](const CoreOffer& offer) {
            return offer.open.size() < count ||
                   reservation.cores.contains(world_.pool.node(offer.node).name);
        });
        if (offers->empty()) continue;
        const auto idle = std::ranges::find(*offers, false, &CoreOffer::has_jobs);
        const CoreOffer& chosen = idle != offers->end() ? *idle : offers->front();
        const sched::NodeEntry& node = world_.pool.node(chosen.node);
        reservation.cores.erase(name);
        reservation.cores[node.name] = spread_over_sockets(node, chosen.open, count);
        name = node.name;
    }
    if (reservation.nodes == before) return false;
    sort_nodes(reservation.nodes);
    return true;
}

}  // namespace switchyard::core
