// idle.cpp: see idle.hpp.

#include "core/sched/idle.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/sched/placement.hpp"

namespace switchyard::core::sched {
namespace {

// Nodes of one kind that are of use.
struct Part {
    std::uint32_t kind;
    std::uint32_t nodes;
    Fit fit;
};

bool is_in(const NodeEntry& node, PartitionIndex partition) {
    return std::ranges::any_of(node.places,
                               [&](const auto& place) { return place.first == partition; });
}

// Nodes that the job names are left out; those it requires are judged one by one.
std::vector<Part> parts_of(const NodePool& pool, PartitionIndex partition, const Demand& demand,
                           Nodes which) {
    const std::uint32_t cores = demand.shape.share > 1 ? 0 : least_cores(demand, pool);
    std::vector<Part> parts;
    for (const NodeKinds::Count& count : pool.kinds().of(partition)) {
        const NodeEntry& node = pool.kinds().example(count.kind);
        const std::uint32_t nodes = which == Nodes::All ? count.nodes : count.usable;
        if (nodes == 0 || node.cores < cores || node.cpus() < demand.cpus_min) continue;
        if (!is_candidate(node, FreeIndex::kNone, demand)) continue;
        const Fit found = fit(node, empty_room(node), demand, pool.unit());
        if (found.tasks > 0) parts.push_back({count.kind, nodes, found});
    }
    return parts;
}

// Takes one node out of its part, and says how much of the job it holds; none: it is of no use.
std::optional<Fit> take_out(std::vector<Part>& parts, const NodePool& pool,
                            PartitionIndex partition, NodeIndex index, Nodes which) {
    const NodeEntry& node = pool.node(index);
    if (!is_in(node, partition) || (which == Nodes::Usable && !node.usable)) return std::nullopt;
    const auto part = std::ranges::find(parts, node.kind, &Part::kind);
    if (part == parts.end() || part->nodes == 0) return std::nullopt;
    --part->nodes;
    return part->fit;
}

}  // namespace

bool could_hold(const NodePool& pool, PartitionIndex partition, const Demand& demand, Nodes which,
                WindowOwner owner) {
    if (demand.impossible) return false;
    const Shape& shape = demand.shape;
    if (shape.contiguous || owner != kNobody) {
        const View idle{.empty = true, .every_node = which == Nodes::All, .owner = owner};
        return place(pool, partition, demand, idle).has_value();
    }
    std::vector<Part> parts = parts_of(pool, partition, demand, which);
    for (const NodeIndex index : demand.excluded) take_out(parts, pool, partition, index, which);
    FitSum sum;
    for (const NodeIndex index : demand.required) {
        if (std::ranges::binary_search(demand.excluded, index)) return false;
        const auto held = take_out(parts, pool, partition, index, which);
        if (!held) return false;
        sum.add(*held);
    }
    if (sum.enough_for(shape)) return true;
    if (sum.nodes >= shape.nodes_max) return false;
    std::ranges::sort(parts, [](const Part& a, const Part& b) {
        if (a.fit.gpus != b.fit.gpus) return a.fit.gpus > b.fit.gpus;
        return a.fit.tasks > b.fit.tasks;
    });
    FitSum most = sum;
    for (const Part& part : parts) {
        if (part.nodes == 0) continue;
        FitSum with_one = sum;
        with_one.add(part.fit);
        most.add(part.fit, std::min<std::uint64_t>(part.nodes, shape.nodes_max - most.nodes));
        if (with_one.enough_for(shape) || most.enough_for(shape)) return true;
    }
    return false;
}

std::optional<Fit> largest_fit(const NodePool& pool, PartitionIndex partition,
                               const Demand& demand) {
    const std::vector<Part> parts = parts_of(pool, partition, demand, Nodes::All);
    const auto size = [](const Part& part) { return std::pair(part.fit.gpus, part.fit.tasks); };
    const auto largest = std::ranges::max_element(parts, {}, size);
    return largest == parts.end() ? std::nullopt : std::optional(largest->fit);
}

bool any_is_of_use(const NodePool& pool, PartitionIndex partition, const Demand& demand) {
    std::vector<Part> parts = parts_of(pool, partition, demand, Nodes::All);
    for (const NodeIndex index : demand.excluded)
        take_out(parts, pool, partition, index, Nodes::All);
    return std::ranges::any_of(parts, [](const Part& part) { return part.nodes > 0; });
}

bool has_undescribed(const NodePool& pool, PartitionIndex partition) {
    return std::ranges::any_of(pool.kinds().of(partition), [&](const NodeKinds::Count& count) {
        return pool.kinds().example(count.kind).cores == 0;
    });
}

std::uint64_t total_of(const NodePool& pool, PartitionIndex partition, const GresNeed& need) {
    std::uint64_t total = 0;
    for (const NodeKinds::Count& count : pool.kinds().of(partition)) {
        for (const GresPool& owned : pool.kinds().example(count.kind).pools) {
            const bool fits = need.type.empty() || owned.type == need.type;
            if (owned.name == need.name && fits) total += owned.total * count.nodes;
        }
    }
    return total;
}

}  // namespace switchyard::core::sched
