// node_columns.hpp: every field of a line of sinfo. A line stands for a group of nodes of one
// partition (or of several, when the partition is not shown).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/node.hpp"
#include "model/partition.hpp"
#include "view/job/job_columns.hpp"
#include "view/table/field_table.hpp"

namespace switchyard::view {

struct NodeView : ViewContext {
    std::map<std::string, std::uint32_t> user_ids;  // Of those who marked nodes, for "root(0)".
};

struct NodeGroup {
    const model::Partition* partition = nullptr;
    std::size_t partition_index = 0;  // In the order of the configuration.
    std::vector<const model::Node*> nodes;
    const NodeView* view = nullptr;
};

std::span<const Field<NodeGroup>> node_fields();

// Which fields keep nodes apart: two nodes share a line only if all fields shown of these kinds
// agree.
enum class Grouping {
    None,       // Counts and lists: they describe a group.
    Partition,  // A property of the partition.
    Node,       // A property of the node.
    Size,       // A size, shown as "8+" for a mixed group; keeps nodes apart only with --exact.
};
Grouping grouping_of(const Field<NodeGroup>& field);

// The order of states that sinfo sorts by: busier and more restricted states are higher.
std::uint32_t state_rank(const model::Node& node);

// The columns of "%all", with the blanks Slurm puts there.
std::vector<Column> all_node_columns();
// The letters and names sinfo --helpformat and --helpFormat list, in their order.
inline constexpr std::string_view kNodeHelpLetters = "SaVYcOCLdfbeGGgBmoAFnNDhPRMIpEirsXztTZlHuUvw";
std::span<const std::string_view> node_field_names();

}  // namespace switchyard::view
