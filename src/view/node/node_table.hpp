// node_table.hpp: what sinfo prints: nodes gathered into lines, the lines in order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "view/node/node_columns.hpp"

namespace switchyard::view {

struct NodeTableRequest {
    std::string format;            // Letters; "%all" for all of them.
    std::string long_format;       // Names; used when `format` is empty.
    std::string sort;              // "#P,-t"
    bool each_node = false;        // --Node: a line for each node and partition.
    bool exact = false;            // --exact
    bool empty_partitions = true;  // A partition of which no node is left has a line all the same.
};

class NodeTable {
  public:
    static NodeTable make(const NodeTableRequest& request);

    const std::vector<std::string>& unknown_fields() const { return table_.unknown(); }
    std::string header() const { return table_.header(); }
    // The lines. `nodes` are those that pass the filters; a partition names its nodes.
    std::string lines(const std::vector<model::Partition>& partitions,
                      const std::vector<model::Node>& nodes, const NodeView& view) const;

  private:
    struct SortTerm {
        const Field<NodeGroup>* field;
        bool descending;
        bool as_configured;  // "#P"
    };
    void parse_sort(std::string_view text);
    std::vector<NodeGroup> gather(const std::vector<model::Partition>& partitions,
                                  const std::vector<model::Node>& nodes,
                                  const NodeView& view) const;
    std::string group_key(const NodeGroup& single) const;
    std::string order_key(const NodeGroup& group) const;

    NodeTableRequest request_;
    FieldTable<NodeGroup> table_;
    std::vector<const Field<NodeGroup>*> keys_;  // The fields that keep nodes apart.
    std::vector<SortTerm> sort_;
};

}  // namespace switchyard::view
