// blocked_shapes.cpp: see blocked_shapes.hpp.

#include "core/sched/blocked_shapes.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace switchyard::core::sched {
namespace {

bool has_room(const NodePool& pool, NodeIndex node, const Demand& demand) {
    const NodeEntry& entry = pool.node(node);
    return is_candidate(entry, node, demand) &&
           fit(entry, entry.free, demand, pool.unit()).tasks > 0;
}

// Beside the places that are kept for those ahead.
bool serves(const NodePool& pool, NodeIndex node, const Group& group, Instant now) {
    View view{.start = now, .end = now + least_stay(group), .key = *group.members.begin()};
    return std::ranges::any_of(owners_of(group.demand.shape), [&](WindowOwner owner) {
        view.owner = owner;
        const auto room = room_in(pool, node, view);
        return room && fit(pool.node(node), *room, group.demand, pool.unit()).tasks > 0;
    });
}

}  // namespace

void BlockedShapes::set_foremost(const Shape& shape) {
    Row& row = classes_.at(shape.least_cpus)[shape.row];
    row.key = shape.groups.begin()->first;
    row.foremost = shape.groups.begin()->second;
}

void BlockedShapes::add(Group& group) {
    const Seconds limit = least_stay(group);
    const auto [at, is_new] = shapes_.try_emplace(group.shape_id);
    Shape& shape = at->second;
    if (is_new) {
        shape.least_cpus = class_of(group);
        std::vector<Row>& rows = classes_[shape.least_cpus];
        shape.row = rows.size();
        Row& row = rows.emplace_back();
        const Demand& demand = group.demand;
        row.shape_id = group.shape_id;
        row.gpus = demand.least.gpus;
        row.memory = demand.least.memory;
        row.idle = demand.least.idle;
        row.several = demand.shape.nodes_min > 1;
        row.heeds = demand.shape.share <= 1 && demand.shape.owners.empty();
        row.least_limit = limit;
        row.next_due = group.due;
    }
    Row& row = classes_.at(shape.least_cpus)[shape.row];
    group.due += row.freed;
    row.next_due = std::min(row.next_due, group.due);
    row.least_limit = std::min(row.least_limit, limit);
    shape.groups.emplace(*group.members.begin(), &group);
    set_foremost(shape);
}

void BlockedShapes::remove(Group& group) {
    const auto found = shapes_.find(group.shape_id);
    SY_ASSERT(found != shapes_.end());
    Shape& shape = found->second;
    SY_ASSERT(shape.groups.erase(*group.members.begin()) == 1);
    // What it still misses goes with it.
    group.due -= std::min(group.due, row_of(shape).freed);
    if (!shape.groups.empty()) return set_foremost(shape);
    const auto rows = classes_.find(shape.least_cpus);
    if (shape.row + 1 < rows->second.size()) {
        rows->second[shape.row] = rows->second.back();
        shapes_.at(rows->second.back().shape_id).row = shape.row;
    }
    rows->second.pop_back();
    if (rows->second.empty()) classes_.erase(rows);
    shapes_.erase(found);
}

bool BlockedShapes::contains(const Group& group) const {
    const auto found = shapes_.find(group.shape_id);
    if (found == shapes_.end()) return false;
    const auto at = found->second.groups.find(*group.members.begin());
    return at != found->second.groups.end() && at->second == &group;
}

std::vector<Group*> BlockedShapes::take_all() {
    std::vector<Group*> all;
    for (const auto& [cpus, rows] : classes_) {
        for (const Row& row : rows) {
            for (const auto& [key, group] : shapes_.at(row.shape_id).groups) all.push_back(group);
        }
    }
    shapes_.clear();
    classes_.clear();
    return all;
}

std::optional<std::uint64_t> BlockedShapes::missed_by_like(const Group& group,
                                                           const QueueKey& key) const {
    const auto found = shapes_.find(group.shape_id);
    if (found == shapes_.end()) return std::nullopt;
    const Row& row = row_of(found->second);
    for (const auto& [first, other] : found->second.groups) {
        if (!(first < key)) return std::nullopt;
        if (least_stay(*other) > least_stay(group)) continue;
        return other->due - std::min(other->due, row.freed);
    }
    return std::nullopt;
}

void BlockedShapes::offer(std::vector<Offer>& offers, const NodePool& pool, NodeIndex node,
                          PartitionIndex partition, Instant now) {
    const NodeEntry& entry = pool.node(node);
    const Capacity capacity = pool.capacity_of(node);
    const auto& last = pool.reservations().last_key();
    for (auto& [cpus, rows] : classes_) {
        const std::uint32_t cores = (cpus + entry.threads - 1) / entry.threads;
        if (cores > capacity.cores) break;
        const bool too_large = last && cores > capacity.cores_beside;
        for (Row& row : rows) {
            if (capacity.memory < row.memory || capacity.gpus < row.gpus ||
                (row.idle && !capacity.idle))
                continue;
            // Behind everybody who was promised anything, and too long or too large for what is
            // left beside the first of them.
            if (too_large && row.heeds && now + row.least_limit > capacity.until && *last < row.key)
                continue;
            // To try one that misses several nodes costs most: only those that count are counted.
            if (row.several && !has_room(pool, node, row.foremost->demand)) continue;
            if (++row.freed < row.next_due) continue;
            offers.push_back({row.key, node, partition, row.shape_id, cores, row.memory});
        }
    }
}

Group* BlockedShapes::first_served(const Offer& offer, bool behind, const NodePool& pool,
                                   Instant now) const {
    const NodeEntry& entry = pool.node(offer.node);
    if (offer.cores > entry.free.cores || offer.memory > entry.free.memory) return nullptr;
    const auto found = shapes_.find(offer.shape_id);
    if (found == shapes_.end() || !entry.open || entry.held_whole()) return nullptr;
    const Shape& shape = found->second;
    const Row& row = row_of(shape);
    if (!has_room(pool, offer.node, row.foremost->demand)) return nullptr;
    auto at = behind ? shape.groups.upper_bound(offer.key) : shape.groups.lower_bound(offer.key);
    std::optional<Seconds> refused;  // Whoever stays as long, and stands behind, is refused too.
    for (; at != shape.groups.end(); ++at) {
        Group& group = *at->second;
        const Seconds limit = least_stay(group);
        if (group.due > row.freed || (refused && limit >= *refused)) continue;
        if (serves(pool, offer.node, group, now)) return &group;
        refused = limit;
    }
    return nullptr;
}

}  // namespace switchyard::core::sched
