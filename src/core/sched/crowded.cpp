#include "core/sched/crowded.hpp"

#include <algorithm>
#include <vector>

namespace switchyard::core::sched {
namespace {

// One who is first in line and waits for resources.
struct Waiter {
    QueueKey key;
    const Group* group;
};

// All nodes of its partition, or those that it names.
bool waits_for(const Waiter& waiter, const NodePool& pool, NodeIndex index) {
    const std::vector<NodeIndex>& named = waiter.group->demand.required;
    if (!named.empty()) return std::ranges::binary_search(named, index);
    return std::ranges::any_of(pool.node(index).places, [&](const auto& place) {
        return place.first == waiter.group->partition;
    });
}

// Whether those who wait leave it too few nodes that could be used at all.
bool has_too_few(const Waiter& late, const std::vector<Waiter>& waiters, const NodePool& pool) {
    std::vector<Waiter> rivals;
    for (const Waiter& waiter : waiters) {
        if (waiter.key.job != late.key.job &&
            pool.overlap(waiter.group->partition, late.group->partition))
            rivals.push_back(waiter);
    }
    if (rivals.empty()) return false;
    std::uint32_t left = 0;
    for (const NodeIndex index : pool.order(late.group->partition)) {
        const auto is_kept = [&](const Waiter& rival) { return waits_for(rival, pool, index); };
        if (!pool.node(index).usable || std::ranges::any_of(rivals, is_kept)) continue;
        if (++left >= late.group->demand.shape.nodes_min) return false;
    }
    return true;
}

}  // namespace

bool is_crowded_out(Queue& queue, const NodePool& pool, PartitionIndex partition) {
    const auto own = queue.front(partition);
    if (!own) return false;
    std::vector<Waiter> line;
    for (PartitionIndex p = 0; p < queue.partition_count(); ++p) {
        const auto front = queue.front(p);
        if (!front || *own < *front) continue;
        const Group* group = queue.group_of(front->job, p);
        if (group != nullptr) line.push_back({*front, group});
    }
    std::ranges::sort(line, [](const Waiter& a, const Waiter& b) { return a.key < b.key; });
    std::vector<Waiter> waiters;
    for (const Waiter& next : line) {
        const bool crowded_out = has_too_few(next, waiters, pool);
        if (next.group->partition == partition) return crowded_out;
        // In a reservation, or as one of several components, it keeps nothing from others.
        const Shape& shape = next.group->demand.shape;
        if (!crowded_out && shape.owners.empty() && shape.only_job == 0) waiters.push_back(next);
    }
    return false;
}

}  // namespace switchyard::core::sched
