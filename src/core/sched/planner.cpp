// planner.cpp: the search for the earliest start.

#include "core/sched/planner.hpp"

#include <algorithm>
#include <functional>

namespace switchyard::core::sched {
namespace {

// Moments tried for a job whose nodes differ; each costs a look at the whole partition.
constexpr int kSearchTriesMax = 24;

}  // namespace

bool Planner::good_at(NodeIndex index, const Demand& demand, Wanted wanted, Instant at,
                      Seconds limit, QueueKey key) {
    ++looked_at_;
    const NodeEntry& node = pool_.node(index);
    const View view{.start = at, .end = at + limit, .key = key, .future = true};
    const auto room = room_in(pool_, index, view);
    return room && fit(node, *room, demand, pool_.unit()).tasks >= wanted.tasks;
}

std::optional<Instant> Planner::earliest(NodeIndex index, const Demand& demand, Wanted wanted,
                                         Instant from, Seconds limit, QueueKey key) {
    const NodeEntry& node = pool_.node(index);
    ++looked_at_;
    if (!node.usable || !is_candidate(node, index, demand)) return std::nullopt;
    if (fit(node, empty_room(node), demand, pool_.unit()).tasks < wanted.tasks) return std::nullopt;
    // A moment can only become good when someone leaves.
    const std::uint32_t cores = (demand.cpus_min + node.threads - 1) / node.threads;
    std::uint32_t free = node.free.cores;
    if (free >= cores && good_at(index, demand, wanted, from, limit, key)) return from;
    std::vector<Instant> moments;
    for (const Holding& holding : node.holdings) {
        free += holding.room.cores;
        if (free >= cores && holding.until > from) moments.push_back(holding.until);
    }
    for (const Reserved& reserved : node.reserved) {
        if (reserved.until > from) moments.push_back(reserved.until);
    }
    std::ranges::sort(moments);
    for (const Instant moment : moments) {
        if (good_at(index, demand, wanted, moment, limit, key)) return moment;
    }
    return std::nullopt;
}

Planner::Heap& Planner::heap_for(std::uint32_t group, PartitionIndex partition,
                                 const Demand& demand, Wanted wanted, Seconds limit, QueueKey key) {
    if (group != 0) {
        if (const auto found = heaps_.find(group); found != heaps_.end()) return found->second;
    }
    Heap heap;
    const auto& order = pool_.order(partition);
    for (std::uint32_t place = 0; place < order.size(); ++place) {
        if (const auto at = earliest(order[place], demand, wanted, now_, limit, key)) {
            heap.push_back({*at, place, order[place], pool_.node(order[place]).version});
        }
    }
    std::ranges::make_heap(heap, std::greater<>{});
    Heap& kept = group != 0 ? heaps_[group] : scratch_;
    kept = std::move(heap);
    return kept;
}

// Takes nodes as they become good until there are enough; the last of them gives the start. Nodes
// that a reservation has changed meanwhile, or that are not good at that later moment, go back with
// a new time.
std::optional<Planned> Planner::plan_alike(Heap& heap, const Demand& demand, Wanted wanted,
                                           std::uint32_t nodes, Seconds limit, QueueKey key) {
    std::vector<NodeTime> taken;
    const auto put_back = [&](NodeTime entry) {
        heap.push_back(entry);
        std::ranges::push_heap(heap, std::greater<>{});
    };
    while (taken.size() < nodes) {
        if (heap.empty()) break;
        std::ranges::pop_heap(heap, std::greater<>{});
        NodeTime entry = heap.back();
        heap.pop_back();
        const std::uint32_t version = pool_.node(entry.node).version;
        if (entry.version != version) {
            const auto at = earliest(entry.node, demand, wanted, now_, limit, key);
            if (at) put_back({*at, entry.place, entry.node, version});
            continue;
        }
        taken.push_back(entry);
        // Nodes taken earlier may have a reservation that begins before this later start.
        for (std::size_t i = 0; i + 1 < taken.size();) {
            if (pool_.node(taken[i].node).reserved.empty() ||
                good_at(taken[i].node, demand, wanted, entry.at, limit, key)) {
                ++i;
                continue;
            }
            NodeTime worse = taken[i];
            taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(i));
            if (const auto at = earliest(worse.node, demand, wanted, entry.at, limit, key)) {
                worse.at = *at;
                put_back(worse);
            }
        }
    }
    std::optional<Planned> planned;
    if (taken.size() == nodes) {
        planned.emplace();
        for (const NodeTime& entry : taken) planned->start = std::max(planned->start, entry.at);
        std::uint32_t left = demand.shape.total_tasks(nodes);
        std::ranges::sort(taken, {}, &NodeTime::node);
        for (const NodeTime& entry : taken) {
            const std::uint32_t tasks = std::min(left, wanted.tasks);
            planned->picks.push_back({entry.node, std::max(1u, tasks), {}});
            left -= tasks;
        }
    }
    for (const NodeTime& entry : taken) put_back(entry);
    return planned;
}

// Tries moments at which nodes become good, from the earliest on, at growing distances.
std::optional<Planned> Planner::plan_by_search(Heap heap, PartitionIndex partition,
                                               const Demand& demand, Seconds limit, QueueKey key) {
    std::ranges::sort(heap, [](const NodeTime& a, const NodeTime& b) { return b > a; });
    std::size_t at =
        heap.size() < demand.shape.nodes_min ? heap.size() : demand.shape.nodes_min - 1;
    std::size_t distance = 1;
    for (int tries = 0; at < heap.size() && tries < kSearchTriesMax; ++tries) {
        const Instant start = heap[at].at;
        const View view{.start = start, .end = start + limit, .key = key, .future = true};
        looked_at_ += pool_.order(partition).size();
        if (auto picks = place(pool_, partition, demand, view))
            return Planned{start, std::move(*picks)};
        if (at + 1 == heap.size()) break;
        while (at + 1 < heap.size() && heap[at].at == start) ++at;
        if (tries >= 8) {
            at = std::min(heap.size() - 1, at + distance);
            distance *= 2;
        }
    }
    return std::nullopt;
}

std::optional<Planned> Planner::plan(std::uint32_t group, PartitionIndex partition,
                                     const Demand& demand, Seconds limit, QueueKey key) {
    const Shape& shape = demand.shape;
    if (demand.impossible) return std::nullopt;
    const bool plain = demand.required.empty() && !shape.contiguous && shape.gpus_per_job.empty();
    Wanted wanted;
    std::uint32_t nodes = shape.nodes_min;
    if (shape.tasks_by_node) {
        wanted.tasks = shape.tasks;
    } else if (shape.spread) {
        wanted.tasks = (shape.tasks + nodes - 1) / nodes;
    } else {
        wanted.tasks = shape.tasks;
    }
    if (plain && (shape.tasks_by_node || shape.spread || nodes == 1)) {
        Heap& heap = heap_for(group, partition, demand, wanted, limit, key);
        if (auto planned = plan_alike(heap, demand, wanted, nodes, limit, key)) return planned;
        if (shape.tasks_by_node) return std::nullopt;
    }
    wanted.tasks = shape.tasks_by_node ? shape.tasks : 1;
    Heap heap = heap_for(0, partition, demand, wanted, limit, key);
    return plan_by_search(std::move(heap), partition, demand, limit, key);
}

}  // namespace switchyard::core::sched
