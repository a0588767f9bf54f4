// allocate.cpp: from "so many on this node" to the numbers of cores and cards.

#include <algorithm>
#include <numeric>

#include "core/sched/placement.hpp"

namespace switchyard::core::sched {
namespace {

// Lowest numbers first; whole sockets stay together because their cores are numbered in a row.
model::IndexSet pick_cores(const NodeEntry& node, std::uint32_t count, std::uint32_t share,
                           Settings::Unit unit) {
    model::IndexSet cores;
    if (unit == Settings::Unit::Socket && share <= 1 && node.sockets > 0) {
        const std::uint32_t per_socket = std::max(1u, node.cores / node.sockets);
        for (std::uint32_t first = 0; first + per_socket <= node.cores && cores.size() < count;
             first += per_socket) {
            bool free = true;
            for (std::uint32_t core = first; core < first + per_socket; ++core)
                free &= node.core_holders[core] == 0;
            if (free) cores.insert(model::IndexSet::Interval{first, first + per_socket - 1});
        }
        if (cores.size() >= count) return cores;
        cores = {};
    }
    for (std::uint32_t depth = 0; depth < share && cores.size() < count; ++depth) {
        for (std::uint32_t core = 0; core < node.cores && cores.size() < count; ++core) {
            if (node.core_holders[core] == depth && !node.core_alone[core]) cores.insert(core);
        }
    }
    return cores;
}

using Cards = std::vector<Device>;  // Changed as one request after the other is served.

bool pick_whole_cards(const GresPool& pool, Cards& cards, std::uint64_t& left,
                      model::GresGrant& grant) {
    for (const std::uint32_t position : pool.devices) {
        if (left == 0) break;
        Device& card = cards[position];
        if (card.taken || card.shares_used > 0) continue;
        card.taken = true;
        grant.devices.insert(card.index);
        ++grant.count;
        --left;
    }
    return grant.count > 0;
}

// Shares go to one card where they fit, the fullest such; else to as few cards as hold them.
bool pick_shares(const GresPool& pool, Cards& cards, std::uint64_t& left, model::GresGrant& grant) {
    const auto free_on = [&](std::uint32_t position) -> std::uint64_t {
        const Device& card = cards[position];
        if (card.taken || (card.shares_used > 0 && card.shared_as != pool.name)) return 0;
        return pool.per_device - std::min(pool.per_device, card.shares_used);
    };
    while (left > 0) {
        std::optional<std::uint32_t> best;
        for (const std::uint32_t position : pool.devices) {
            const std::uint64_t free = free_on(position);
            if (free == 0) continue;
            if (!best) {
                best = position;
                continue;
            }
            const std::uint64_t best_free = free_on(*best);
            const bool fits = free >= left, best_fits = best_free >= left;
            if (fits != best_fits ? fits : (fits ? free < best_free : free > best_free))
                best = position;
        }
        if (!best) break;
        const std::uint64_t amount = std::min(left, free_on(*best));
        cards[*best].shares_used += amount;
        cards[*best].shared_as = pool.name;
        grant.shares.push_back({cards[*best].index, amount});
        grant.count += amount;
        left -= amount;
    }
    std::ranges::sort(grant.shares, {}, &model::GresGrant::Share::device);
    return grant.count > 0;
}

bool pick_gres(const NodeEntry& node, const GresNeed& need, Cards& cards,
               std::array<std::uint64_t, kGresPoolsMax>& counted,
               std::vector<model::GresGrant>& grants) {
    std::uint64_t left = need.count;
    for (std::size_t at = 0; at < node.pools.size() && left > 0; ++at) {
        const GresPool& pool = node.pools[at];
        if (pool.name != need.name || (!need.type.empty() && pool.type != need.type)) continue;
        model::GresGrant grant;
        grant.name = pool.name;
        grant.type = pool.type;
        bool any = false;
        if (pool.devices.empty()) {
            const std::uint64_t free =
                pool.total - std::min(pool.total, pool.counted_used + counted[at]);
            grant.count = std::min(left, free);
            counted[at] += grant.count;
            left -= grant.count;
            any = grant.count > 0;
        } else if (pool.shared) {
            any = pick_shares(pool, cards, left, grant);
        } else {
            any = pick_whole_cards(pool, cards, left, grant);
        }
        if (any) model::add_grants(grants, {grant});
    }
    return left == 0;
}

}  // namespace

std::optional<model::Allocation> make_allocation(const NodePool& pool, const Demand& demand,
                                                 const std::vector<Pick>& picks) {
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
        grant.cores = pick_cores(node, cores, demand.shape.share, pool.unit());
        if (grant.cores.size() < cores) return std::nullopt;
        grant.cpus = static_cast<std::uint32_t>(grant.cores.size()) * node.threads;
        grant.memory = model::MiB{memory_for(node, demand.shape, cores, gpus)};
        if (grant.memory.value > node.free.memory) return std::nullopt;
        Cards cards = node.devices;
        std::array<std::uint64_t, kGresPoolsMax> counted{};
        for (const GresNeed& need : gres_for(node, demand.shape, pick.tasks, pick.gpus)) {
            if (!pick_gres(node, need, cards, counted, grant.gres)) return std::nullopt;
        }
        allocation.nodes.push_back(std::move(grant));
    }
    return allocation;
}

}  // namespace switchyard::core::sched
