// allocate.cpp: from "so many on this node" to the numbers of cores and cards.

#include <algorithm>
#include <numeric>

#include "core/sched/open_cores.hpp"
#include "core/sched/pick_cards.hpp"
#include "core/sched/placement.hpp"

namespace switchyard::core::sched {
namespace {

// Those of `near` first, then the lowest numbers; whole sockets stay together because their cores
// are numbered in a row.
model::IndexSet pick_cores(const NodeEntry& node, std::uint32_t count, const Shape& shape,
                           Selection::Unit unit, const model::IndexSet& near,
                           const Admission& admission) {
    const std::uint32_t share = shape.share;
    model::IndexSet cores;
    if (unit == Selection::Unit::Socket && share <= 1 && node.sockets > 0) {
        const std::uint32_t per_socket = std::max(1u, node.cores / node.sockets);
        const auto take_sockets = [&](bool only_near) {
            for (std::uint32_t first = 0; first + per_socket <= node.cores && cores.size() < count;
                 first += per_socket) {
                const auto socket = model::IndexSet::range(first, first + per_socket - 1);
                bool free = !only_near || socket.intersects(near);
                for (std::uint32_t core = first; core < first + per_socket; ++core)
                    free &= node.core_holders[core] == 0 && admission.allows(core);
                if (free) cores.insert(socket);
            }
        };
        take_sockets(true);
        take_sockets(false);
        if (cores.size() >= count) return cores;
        cores = {};
    }
    // Those of jobs that are suspended last: they can go on only with the very same ones.
    model::IndexSet lent;
    for (const Holding& holding : node.holdings) lent.insert(holding.lent);
    const auto take_cores = [&](std::uint32_t depth, bool only_near, bool leave_lent) {
        for (std::uint32_t core = 0; core < node.cores && cores.size() < count; ++core) {
            if (!admission.allows(core) || (only_near && !near.contains(core))) continue;
            if (leave_lent && lent.contains(core)) continue;
            if (node.core_holders[core] == depth && !node.core_alone[core]) cores.insert(core);
        }
    };
    for (std::uint32_t depth = 0; depth < share && cores.size() < count; ++depth) {
        for (const bool leave_lent : {true, false}) {
            if (!near.empty()) take_cores(depth, true, leave_lent);
            take_cores(depth, false, leave_lent);
        }
    }
    return cores;
}

// Who has a node for itself has all that is there, beyond what it asked for. A card is whole or in
// shares: who asked for shares has those, and who did not has the cards.
void add_rest(const NodeEntry& node, CardPicker& cards, std::vector<model::GresGrant>& grants) {
    const auto is_share = [&](const model::GresGrant& grant) { return !grant.shares.empty(); };
    const bool shares = std::ranges::any_of(grants, is_share);
    for (const GresPool& pool : node.pools) {
        if (!pool.shared && (!shares || pool.devices.empty()))
            cards.pick({pool.name, pool.type, pool.total}, grants);
    }
}

}  // namespace

std::optional<model::Allocation> make_allocation(const NodePool& pool, const Demand& demand,
                                                 const std::vector<Pick>& picks, const View& view) {
    model::Allocation allocation;
    for (const Pick& pick : picks) {
        const NodeEntry& node = pool.node(pick.node);
        const std::uint64_t job_gpus =
            std::accumulate(pick.gpus.begin(), pick.gpus.end(), std::uint64_t{0});
        const std::uint64_t gpus = gpus_on_node(node, demand.shape, pick.tasks, job_gpus);
        const std::uint32_t cores = cores_for(node, demand.shape, pick.tasks, gpus, pool.unit());
        model::NodeGrant grant;
        grant.node = node.name;
        grant.tasks = pick.tasks;
        CardPicker cards(node, cores);
        for (const GresNeed& need : gres_for(node, demand.shape, pick.tasks, pick.gpus)) {
            if (!cards.pick(need, grant.gres)) return std::nullopt;
        }
        if (demand.shape.whole_nodes) add_rest(node, cards, grant.gres);
        const auto admission = admission_in(pool, pick.node, view);
        if (!admission) return std::nullopt;
        grant.cores = pick_cores(node, cores, demand.shape, pool.unit(), cards.near(), *admission);
        if (grant.cores.size() < cores) return std::nullopt;
        grant.cpus = static_cast<std::uint32_t>(grant.cores.size()) * node.threads;
        grant.memory = model::MiB{memory_for(node, demand.shape, cores, gpus)};
        if (grant.memory.value > node.free.memory) return std::nullopt;
        allocation.nodes.push_back(std::move(grant));
    }
    return allocation;
}

}  // namespace switchyard::core::sched
