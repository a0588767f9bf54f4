// node_document.hpp: nodes, partitions and the groups of sinfo as --json and --yaml show them.
#pragma once

#include <string>
#include <vector>

#include "model/node.hpp"
#include "model/partition.hpp"
#include "view/document.hpp"
#include "view/node/node_facts.hpp"

namespace switchyard::view {

// One map of a list of nodes, as of scontrol show node.
void write_node(Document& document, const model::Node& node, const std::string& cluster);

// The values of one partition, in a map of its own under `key` (empty in a list).
void write_partition(Document& document, std::string_view key, const model::Partition& partition,
                     const PartitionTotals& totals);

// The list of sinfo: for each partition those of `nodes` that are its own, alike ones together.
// `totals` are those of the partitions, in their order.
void write_node_groups(Document& document, const std::vector<model::Partition>& partitions,
                       const std::vector<PartitionTotals>& totals,
                       const std::vector<model::Node>& nodes);

}  // namespace switchyard::view
