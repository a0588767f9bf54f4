// node_kinds.hpp: how many nodes of a partition are alike.
//
// Ten thousand nodes are bought in a few batches, and what one of a batch could hold if it were
// idle, all of them could. So a question about an idle partition is one about kinds of nodes.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "core/sched/node_entry.hpp"

namespace switchyard::core::sched {

class NodeKinds {
  public:
    struct Count {
        std::uint32_t kind = 0;
        std::uint32_t nodes = 0, usable = 0;  // So many, and so many of them are usable.
    };

    // Nothing is known and nothing counted.
    void clear();
    // The kind of a node as it is described, whoever holds parts of it.
    std::uint32_t kind_of(const NodeEntry& entry);
    // A node of the kind that nobody holds anything of.
    const NodeEntry& example(std::uint32_t kind) const { return examples_[kind]; }

    void set_partition_count(std::size_t count) { counts_.assign(count, {}); }
    // The node counts in its partitions, or does so no more.
    void add(const NodeEntry& entry);
    void remove(const NodeEntry& entry);
    std::span<const Count> of(PartitionIndex partition) const { return counts_[partition]; }

  private:
    using Gres = std::tuple<std::string, std::string, std::uint64_t>;  // Name, type, total.
    struct Description {
        std::uint32_t cores, threads, sockets;
        std::uint64_t memory, tmp_disk;
        std::vector<std::string> features;
        std::vector<Gres> gres;
        auto operator<=>(const Description&) const = default;
    };
    Count& count_of(PartitionIndex partition, std::uint32_t kind);

    std::map<Description, std::uint32_t> kinds_;
    std::vector<NodeEntry> examples_;
    std::vector<std::vector<Count>> counts_;  // By partition, sorted by kind.
};

}  // namespace switchyard::core::sched
