// node_kinds.cpp: see node_kinds.hpp.

#include "core/sched/node_kinds.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace switchyard::core::sched {

void NodeKinds::clear() {
    kinds_.clear();
    examples_.clear();
    counts_.clear();
}

std::uint32_t NodeKinds::kind_of(const NodeEntry& entry) {
    Description description{
        entry.cores, entry.threads, entry.sockets, entry.memory, entry.tmp_disk, entry.features,
        {}};
    for (const GresPool& pool : entry.pools)
        description.gres.emplace_back(pool.name, pool.type, pool.total);
    const auto next = static_cast<std::uint32_t>(examples_.size());
    const auto [found, is_new] = kinds_.emplace(std::move(description), next);
    if (is_new) {
        NodeEntry& example = examples_.emplace_back();
        example.cores = entry.cores;
        example.threads = entry.threads;
        example.sockets = entry.sockets;
        example.memory = entry.memory;
        example.tmp_disk = entry.tmp_disk;
        example.features = entry.features;
        example.pools = entry.pools;
        example.kind = next;
        example.core_holders.assign(entry.cores, 0);
        example.core_alone.assign(entry.cores, false);
    }
    return found->second;
}

NodeKinds::Count& NodeKinds::count_of(PartitionIndex partition, std::uint32_t kind) {
    auto& counts = counts_[partition];
    const auto at = std::ranges::lower_bound(counts, kind, {}, &Count::kind);
    if (at != counts.end() && at->kind == kind) return *at;
    return *counts.insert(at, {kind, 0, 0});
}

void NodeKinds::add(const NodeEntry& entry) {
    for (const auto& [partition, place] : entry.places) {
        Count& count = count_of(partition, entry.kind);
        ++count.nodes;
        count.usable += entry.usable ? 1 : 0;
    }
}

void NodeKinds::remove(const NodeEntry& entry) {
    for (const auto& [partition, place] : entry.places) {
        Count& count = count_of(partition, entry.kind);
        SY_ASSERT(count.nodes > 0 && count.usable + (entry.usable ? 0 : 1) > 0);
        --count.nodes;
        count.usable -= entry.usable ? 1 : 0;
        if (count.nodes == 0)
            std::erase_if(counts_[partition], [](auto& c) { return c.nodes == 0; });
    }
}

}  // namespace switchyard::core::sched
