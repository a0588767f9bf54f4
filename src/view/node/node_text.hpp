// node_text.hpp: scontrol show node and show partition.
#pragma once

#include <string>
#include <vector>

#include "model/node.hpp"
#include "model/partition.hpp"
#include "view/record.hpp"

namespace switchyard::view {

std::string node_record(const model::Node& node, const RecordStyle& style);
// `nodes`: of the cluster; those of the partition are added up.
std::string partition_record(const model::Partition& partition,
                             const std::vector<model::Node>& nodes, const RecordStyle& style);

}  // namespace switchyard::view
