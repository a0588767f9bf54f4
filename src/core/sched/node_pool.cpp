// node_pool.cpp: giving out and taking back.

#include "core/sched/node_pool.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/assert.hpp"

namespace switchyard::core::sched {
namespace {

std::uint32_t clamp32(std::uint64_t value) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, 0xffffffffu));
}

std::uint32_t device_position(NodeEntry& entry, std::uint32_t index) {
    for (std::uint32_t at = 0; at < entry.devices.size(); ++at) {
        if (entry.devices[at].index == index) return at;
    }
    entry.devices.emplace_back().index = index;
    return static_cast<std::uint32_t>(entry.devices.size() - 1);
}

// Cards that nobody described by device files still have numbers: 0, 1, ... over all types.
void number_cards(NodeEntry& entry) {
    std::uint32_t next = 0;
    for (GresPool& pool : entry.pools) {
        if (pool.name != "gpu" || !pool.devices.empty()) continue;
        for (std::uint64_t i = 0; i < pool.total; ++i) {
            while (std::ranges::any_of(entry.devices,
                                       [&](const Device& d) { return d.index == next; }))
                ++next;
            pool.devices.push_back(device_position(entry, next));
        }
    }
    for (GresPool& pool : entry.pools) {
        if (!pool.shared || !pool.devices.empty()) continue;
        for (const GresPool& cards : entry.pools) {
            if (cards.name != "gpu" || (!pool.type.empty() && cards.type != pool.type)) continue;
            pool.devices.insert(pool.devices.end(), cards.devices.begin(), cards.devices.end());
        }
        if (!pool.devices.empty()) pool.per_device = pool.total / pool.devices.size();
    }
}

// What is near each card.
void describe_cards(NodeEntry& entry, const std::vector<model::GresInventory>& gres) {
    for (const model::GresInventory& inventory : gres) {
        if (inventory.name != "gpu") continue;
        const auto indexes = inventory.devices.to_vector();
        for (std::size_t at = 0; at < indexes.size(); ++at) {
            Device& card = entry.devices[device_position(entry, indexes[at])];
            card.cores =
                at < inventory.device_cores.size() ? inventory.device_cores[at] : inventory.cores;
            if (at < inventory.device_links.size()) card.links = inventory.device_links[at];
        }
    }
}

const GresPool* find_pool(const NodeEntry& entry, const model::GresGrant& grant) {
    for (const GresPool& pool : entry.pools) {
        if (pool.name == grant.name && pool.type == grant.type) return &pool;
    }
    return nullptr;
}

void foresee_cores(NodeEntry& entry) {
    entry.cores_free_from.clear();
    std::uint32_t cores = entry.free.cores;
    for (const Holding& holding : entry.holdings)
        entry.cores_free_from.emplace_back(holding.until, cores += holding.room.cores);
}

}  // namespace

bool NodeEntry::held_whole() const {
    return std::ranges::any_of(holdings, [](const Holding& holding) { return holding.whole; });
}

void NodePool::describe(NodeEntry& entry, const model::Node& description) {
    const model::NodeConfig& config = description.config;
    entry.name = config.name;
    const std::uint32_t sockets = std::max(1u, config.sockets);
    entry.sockets = sockets;
    std::uint32_t cores = config.cores();
    if (cores == 0) cores = config.cpus / std::max(1u, config.threads_per_core);
    if (config.cpus != 0 && config.cpus < cores) cores = config.cpus;
    // CPUs= may count cores or threads, as it does in slurm.conf.
    entry.threads = cores == 0 ? 1 : std::max(1u, config.cpus / cores);
    threads_max_ = std::max(threads_max_, entry.threads);
    entry.cores = cores - std::min(cores, config.core_spec_count);
    entry.memory = config.memory.value - std::min(config.memory.value, config.mem_spec_limit.value);
    entry.tmp_disk = config.tmp_disk.value;
    entry.weight = config.weight;
    entry.features = config.active();
    entry.pools.clear();
    entry.devices.clear();
    for (const model::GresInventory& inventory : config.gres) {
        if (entry.pools.size() == kGresPoolsMax) break;
        GresPool pool{
            inventory.name, inventory.type, inventory.count, inventory.is_shared(), 0, {}, 0};
        for (const std::uint32_t index : inventory.devices.to_vector()) {
            pool.devices.push_back(device_position(entry, index));
        }
        if (pool.shared && !pool.devices.empty())
            pool.per_device = pool.total / pool.devices.size();
        entry.pools.push_back(std::move(pool));
    }
    describe_cards(entry, config.gres);
    number_cards(entry);
    for (GresPool& pool : entry.pools) {
        std::ranges::sort(pool.devices, {},
                          [&](std::uint32_t at) { return entry.devices[at].index; });
    }
    entry.core_holders.assign(entry.cores, 0);
    entry.core_alone.assign(entry.cores, false);
    entry.kind = kinds_.kind_of(entry);
    recount(entry);
}

// What is free, from the facts. Cheap: a node has tens of cores and a few cards.
void NodePool::recount(NodeEntry& entry) const {
    ++entry.version;
    entry.free = Room{};
    entry.free.holders = static_cast<std::uint32_t>(entry.holdings.size());
    entry.free.cores = static_cast<std::uint32_t>(std::ranges::count(entry.core_holders, 0));
    foresee_cores(entry);
    std::uint64_t used_memory = 0;
    for (const Holding& holding : entry.holdings) used_memory += holding.room.memory;
    entry.free.memory = entry.memory - std::min(entry.memory, used_memory);
    for (std::size_t at = 0; at < entry.pools.size(); ++at) {
        const GresPool& pool = entry.pools[at];
        std::uint64_t free = 0;
        if (pool.devices.empty()) {
            free = pool.total - std::min(pool.total, pool.counted_used);
        } else {
            for (const std::uint32_t position : pool.devices) {
                const Device& device = entry.devices[position];
                if (device.taken) continue;
                if (!pool.shared) {
                    free += device.shares_used == 0 ? 1 : 0;
                } else if (device.shares_used == 0 || device.shared_as == pool.name) {
                    free += pool.per_device - std::min(pool.per_device, device.shares_used);
                }
            }
        }
        entry.free.gres[at] = clamp32(free);
    }
}

Holding without_cores(Holding holding) {
    holding.lent = std::move(holding.grant.cores);
    holding.grant.cores = {};
    holding.grant.cpus = 0;
    holding.whole = false;
    return holding;
}

Capacity NodePool::capacity_of(NodeIndex index) const {
    const NodeEntry& entry = nodes_[index];
    Capacity capacity;
    capacity.cores = capacity.cores_beside = entry.free.cores;
    capacity.memory = entry.free.memory;
    capacity.idle = entry.holdings.empty();
    for (std::size_t at = 0; at < entry.pools.size(); ++at) {
        if (entry.pools[at].name == "gpu") capacity.gpus += entry.free.gres[at];
    }
    const auto reserved = reservations_.on(index);
    if (reserved.empty()) return capacity;
    const Reserved& first = *std::ranges::min_element(reserved, {}, &Reserved::from);
    capacity.until = first.from;
    // Whoever stays beyond that moment has to leave what was promised by then.
    std::uint32_t cores = entry.free.cores;
    for (const Holding& holding : entry.holdings) {
        if (holding.until <= first.from) cores += holding.room.cores;
    }
    const std::uint32_t kept = first.whole ? cores : first.room.cores;
    capacity.cores_beside = std::min(entry.free.cores, cores - std::min(cores, kept));
    return capacity;
}

void NodePool::publish(NodeIndex index) {
    const NodeEntry& entry = nodes_[index];
    const bool available = entry.open && !entry.held_whole();
    const Capacity capacity = entry.usable || available ? capacity_of(index) : Capacity{};
    for (const auto& [partition, place] : entry.places) {
        indexes_[partition].set(place, available ? capacity : Capacity{});
        usable_indexes_[partition].set(place, entry.usable ? capacity : Capacity{});
    }
    ahead_[index] = entry.usable ? CoresAhead(entry) : CoresAhead();
}

void NodePool::list(const NodeEntry& entry, const Holding& holding) {
    for (const auto& [partition, place] : entry.places)
        leaving_[partition].insert({holding.until, place, holding.job});
}

void NodePool::unlist(const NodeEntry& entry, const Holding& holding) {
    for (const auto& [partition, place] : entry.places)
        leaving_[partition].erase({holding.until, place, holding.job});
}

void NodePool::reset(const std::vector<model::Node>& nodes, Selection::Unit unit) {
    unit_ = unit;
    kinds_.clear();
    nodes_.assign(nodes.size(), {});
    ahead_.assign(nodes.size(), {});
    by_name_.clear();
    for (NodeIndex i = 0; i < nodes.size(); ++i) {
        describe(nodes_[i], nodes[i]);
        by_name_[nodes[i].config.name] = i;
    }
    orders_.clear();
    indexes_.clear();
    usable_indexes_.clear();
    leaving_.clear();
    overlaps_.clear();
    reservations_ = no_reservations();
    windows_ = no_windows();
}

void NodePool::redescribe(NodeIndex index, const model::Node& description) {
    NodeEntry& entry = nodes_[index];
    kinds_.remove(entry);
    describe(entry, description);
    kinds_.add(entry);
    for (const Holding& holding : entry.holdings) take(entry, holding);
    recount(entry);
    for (const auto& [partition, place] : entry.places)
        cores_max_[partition] = std::max(cores_max_[partition], entry.cores);
    publish(index);
}

void NodePool::set_partitions(const std::vector<model::Partition>& partitions) {
    orders_.assign(partitions.size(), {});
    cores_max_.assign(partitions.size(), 0);
    kinds_.set_partition_count(partitions.size());
    indexes_.clear();
    usable_indexes_.clear();
    leaving_.assign(partitions.size(), {});
    reservations_ = no_reservations();
    windows_ = no_windows();
    for (NodeEntry& entry : nodes_) entry.places.clear();
    std::vector<std::set<NodeIndex>> members(partitions.size());
    for (PartitionIndex p = 0; p < partitions.size(); ++p) {
        for (const std::string& name : partitions[p].nodes) {
            if (const auto node = find(name); node && members[p].insert(*node).second) {
                orders_[p].push_back(*node);
            }
        }
        std::ranges::sort(orders_[p], [&](NodeIndex a, NodeIndex b) {
            return std::pair(nodes_[a].weight, a) < std::pair(nodes_[b].weight, b);
        });
        indexes_.emplace_back(static_cast<std::uint32_t>(orders_[p].size()));
        usable_indexes_.emplace_back(static_cast<std::uint32_t>(orders_[p].size()));
        for (std::uint32_t place = 0; place < orders_[p].size(); ++place) {
            NodeEntry& entry = nodes_[orders_[p][place]];
            entry.places.emplace_back(p, place);
            cores_max_[p] = std::max(cores_max_[p], entry.cores);
        }
    }
    overlaps_.assign(partitions.size(), std::vector<bool>(partitions.size(), false));
    for (NodeIndex i = 0; i < nodes_.size(); ++i) {
        const NodeEntry& entry = nodes_[i];
        for (const auto& [a, at_a] : entry.places) {
            for (const auto& [b, at_b] : entry.places) overlaps_[a][b] = true;
        }
        for (const Holding& holding : entry.holdings) list(entry, holding);
        kinds_.add(entry);
        publish(i);
    }
}

bool NodePool::overlap(PartitionIndex a, PartitionIndex b) const { return overlaps_[a][b]; }

std::optional<NodeIndex> NodePool::find(std::string_view name) const {
    const auto found = by_name_.find(std::string(name));
    if (found == by_name_.end()) return std::nullopt;
    return found->second;
}

void NodePool::set_open(NodeIndex node, bool open, bool usable) {
    if (nodes_[node].usable != usable) {
        kinds_.remove(nodes_[node]);
        nodes_[node].usable = usable;
        kinds_.add(nodes_[node]);
    }
    nodes_[node].open = open;
    publish(node);
}

Room NodePool::room_of(NodeIndex node, const model::NodeGrant& grant) const {
    const NodeEntry& entry = nodes_[node];
    Room room;
    room.cores = static_cast<std::uint32_t>(grant.cores.size());
    room.memory = grant.memory.value;
    room.holders = 1;
    for (const model::GresGrant& gres : grant.gres) {
        const GresPool* pool = find_pool(entry, gres);
        if (pool == nullptr) continue;
        room.gres[static_cast<std::size_t>(pool - entry.pools.data())] += clamp32(gres.count);
        if (pool->name != "gpu") continue;
        // A whole card is also all the shares of it.
        for (std::size_t at = 0; at < entry.pools.size(); ++at) {
            const GresPool& shares = entry.pools[at];
            if (shares.shared && (shares.type == pool->type || shares.type.empty())) {
                room.gres[at] += clamp32(gres.count * shares.per_device);
            }
        }
    }
    return room;
}

void NodePool::take(NodeEntry& entry, const Holding& holding) const {
    for (const auto& interval : holding.grant.cores.intervals()) {
        for (std::uint32_t core = interval.first; core <= interval.last && core < entry.cores;
             ++core) {
            ++entry.core_holders[core];
            if (holding.share <= 1) entry.core_alone[core] = true;
        }
    }
    for (const model::GresGrant& gres : holding.grant.gres) {
        for (GresPool& pool : entry.pools) {
            if (pool.name == gres.name && pool.type == gres.type && pool.devices.empty()) {
                pool.counted_used += gres.count;
            }
        }
        for (Device& device : entry.devices) {
            if (gres.devices.contains(device.index)) device.taken = true;
            for (const auto& share : gres.shares) {
                if (share.device != device.index) continue;
                device.shares_used += share.amount;
                device.shared_as = gres.name;
            }
        }
    }
}

void NodePool::give_back(NodeEntry& entry, const Holding& holding) const {
    for (const auto& interval : holding.grant.cores.intervals()) {
        for (std::uint32_t core = interval.first; core <= interval.last && core < entry.cores;
             ++core) {
            SY_ASSERT(entry.core_holders[core] > 0);
            --entry.core_holders[core];
            if (entry.core_holders[core] == 0) entry.core_alone[core] = false;
        }
    }
    for (const model::GresGrant& gres : holding.grant.gres) {
        for (GresPool& pool : entry.pools) {
            if (pool.name == gres.name && pool.type == gres.type && pool.devices.empty()) {
                pool.counted_used -= std::min(pool.counted_used, gres.count);
            }
        }
        for (Device& device : entry.devices) {
            if (gres.devices.contains(device.index)) device.taken = false;
            for (const auto& share : gres.shares) {
                if (share.device != device.index) continue;
                device.shares_used -= std::min(device.shares_used, share.amount);
                if (device.shares_used == 0) device.shared_as.clear();
            }
        }
    }
}

void NodePool::claim(NodeIndex index, Holding holding) {
    NodeEntry& entry = nodes_[index];
    holding.room = room_of(index, holding.grant);
    take(entry, holding);
    list(entry, holding);
    const auto at = std::ranges::upper_bound(entry.holdings, holding.until, {}, &Holding::until);
    entry.holdings.insert(at, std::move(holding));
    recount(entry);
    publish(index);
}

void NodePool::release(NodeIndex index, JobId job) {
    NodeEntry& entry = nodes_[index];
    const auto found = std::ranges::find(entry.holdings, job, &Holding::job);
    SY_ASSERT(found != entry.holdings.end());
    give_back(entry, *found);
    unlist(entry, *found);
    entry.holdings.erase(found);
    recount(entry);
    publish(index);
}

void NodePool::set_until(NodeIndex index, JobId job, Instant until) {
    NodeEntry& entry = nodes_[index];
    const auto found = std::ranges::find(entry.holdings, job, &Holding::job);
    if (found == entry.holdings.end()) return;
    unlist(entry, *found);
    Holding moved = std::move(*found);
    entry.holdings.erase(found);
    moved.until = until;
    list(entry, moved);
    const auto at = std::ranges::upper_bound(entry.holdings, until, {}, &Holding::until);
    entry.holdings.insert(at, std::move(moved));
    ++entry.version;
    foresee_cores(entry);
    publish(index);
}

void NodePool::reserve(NodeIndex node, Reserved reserved) {
    reservations_.add(node, nodes_[node].places, std::move(reserved));
    publish(node);
}

void NodePool::drop_reservation(NodeIndex node, JobId job) {
    reservations_.drop(node, nodes_[node].places, job);
    publish(node);
}

std::vector<NodeIndex> NodePool::set_reservations(BackfillReservations reservations) {
    SY_ASSERT(reservations.node_count() == nodes_.size());
    std::swap(reservations_, reservations);
    std::vector<NodeIndex> concerned;
    for (NodeIndex i = 0; i < nodes_.size(); ++i) {
        if (std::ranges::equal(reservations.on(i), reservations_.on(i))) continue;
        publish(i);
        concerned.push_back(i);
    }
    return concerned;
}

void NodePool::set_windows(Windows windows) {
    SY_ASSERT(windows.node_count() == nodes_.size());
    windows_ = std::move(windows);
}

void NodePool::check_invariants() const {
    for (const NodeEntry& entry : nodes_) {
        std::uint64_t memory = 0;
        std::vector<std::uint32_t> holders(entry.cores, 0), alone(entry.cores, 0);
        std::map<std::uint32_t, std::uint32_t> cards;
        std::map<std::uint32_t, std::uint64_t> shares;
        for (const Holding& holding : entry.holdings) {
            memory += holding.room.memory;
            for (const std::uint32_t core : holding.grant.cores.to_vector()) {
                if (core >= entry.cores) continue;  // The node shrank under it.
                ++holders[core];
                if (holding.share <= 1) ++alone[core];
            }
            for (const model::GresGrant& gres : holding.grant.gres) {
                for (const std::uint32_t device : gres.devices.to_vector()) ++cards[device];
                for (const auto& share : gres.shares) shares[share.device] += share.amount;
            }
            if (holding.whole) SY_ASSERT(entry.holdings.size() == 1);
        }
        for (std::uint32_t core = 0; core < entry.cores; ++core) {
            SY_ASSERT(holders[core] == entry.core_holders[core]);
            if (alone[core] > 0) SY_ASSERT(holders[core] == 1);
        }
        SY_ASSERT(memory <= entry.memory || entry.memory == 0);
        for (const auto& [card, count] : cards) {
            SY_ASSERT(count == 1);
            SY_ASSERT(!shares.contains(card));
        }
        for (const auto& [card, amount] : shares) {
            const auto fits = [&](const GresPool& pool) {
                return pool.shared && amount <= pool.per_device;
            };
            SY_ASSERT(std::ranges::any_of(entry.pools, fits));
        }
        SY_ASSERT(std::ranges::is_sorted(entry.holdings, {}, &Holding::until));
        for (const auto& [partition, place] : entry.places) {
            for (const Holding& holding : entry.holdings)
                SY_ASSERT(leaving_[partition].contains({holding.until, place, holding.job}));
        }
    }
}

}  // namespace switchyard::core::sched
