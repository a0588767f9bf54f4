// node_table.cpp: a line of sinfo is a group of nodes. Each node of each partition makes a key of
// the fields that must be equal within a line; equal keys are one group. Groups are then ordered by
// a second key, which sorts as bytes (order_key).
#include "view/node/node_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "view/node/node_facts.hpp"
#include "view/table/order_key.hpp"

namespace switchyard::view {
namespace {

std::vector<Column> columns_of(const NodeTableRequest& request) {
    if (equals_ignoring_case(request.format, "%all")) return all_node_columns();
    if (request.format.empty()) return parse_long_format(request.long_format);
    return parse_letter_format(request.format);
}

const Field<NodeGroup>* find_field(const Column& column, bool by_name) {
    for (const Field<NodeGroup>& field : node_fields()) {
        const bool found = by_name ? equals_ignoring_case(column.field, field.name)
                                   : column.field.size() == 1 && column.field[0] == field.letter;
        if (found) return &field;
    }
    return nullptr;
}

}  // namespace

NodeTable NodeTable::make(const NodeTableRequest& request) {
    NodeTable made;
    made.request_ = request;
    const bool by_name = request.format.empty();
    const std::vector<Column> columns = columns_of(request);
    made.table_ = by_name ? FieldTable<NodeGroup>::by_name(node_fields(), columns)
                          : FieldTable<NodeGroup>::by_letter(node_fields(), columns);
    for (const Column& column : columns) {
        const Field<NodeGroup>* field = find_field(column, by_name);
        if (field == nullptr) continue;
        const Grouping grouping = grouping_of(*field);
        if (grouping == Grouping::Node || grouping == Grouping::Partition ||
            (grouping == Grouping::Size && request.exact)) {
            made.keys_.push_back(field);
        }
    }
    made.parse_sort(request.sort);
    return made;
}

// Letters that are none have no effect.
void NodeTable::parse_sort(std::string_view text) {
    for (std::string_view term : split(text, ',')) {
        bool descending = false, as_configured = false;
        while (!term.empty() && (term[0] == '-' || term[0] == '+' || term[0] == '#')) {
            if (term[0] == '#') as_configured = true;
            if (term[0] == '-') descending = true;
            term.remove_prefix(1);
        }
        if (term.empty()) continue;
        Column column;
        column.field = term;
        const Field<NodeGroup>* field = find_field(column, false);
        if (field != nullptr) sort_.push_back({field, descending, as_configured});
    }
}

std::string NodeTable::group_key(const NodeGroup& single) const {
    std::string key;
    for (const Field<NodeGroup>* field : keys_) {
        key += field->text(single);
        key += '\n';
    }
    if (request_.each_node) {
        key += fmt::format("{}\n", single.partition_index);
        if (!single.nodes.empty()) key += single.nodes.front()->config.name;
    }
    return key;
}

std::vector<NodeGroup> NodeTable::gather(const std::vector<model::Partition>& partitions,
                                         const std::vector<model::Node>& nodes,
                                         const NodeView& view) const {
    std::map<std::string_view, const model::Node*> by_name;
    for (const model::Node& node : nodes) by_name.emplace(node.config.name, &node);

    std::vector<NodeGroup> groups;
    std::map<std::string, std::size_t> known;  // Key to place in `groups`.
    const auto add = [&](NodeGroup single) {
        const auto [place, is_new] = known.try_emplace(group_key(single), groups.size());
        if (is_new) {
            groups.push_back(std::move(single));
            return;
        }
        // A node of several partitions counts once in a line that shows none of them.
        std::vector<const model::Node*>& members = groups[place->second].nodes;
        for (const model::Node* node : single.nodes) members.push_back(node);
    };
    for (std::size_t i = 0; i < partitions.size(); ++i) {
        bool any = false;
        for (const std::string& name : partitions[i].nodes) {
            const auto node = by_name.find(name);
            if (node == by_name.end()) continue;
            any = true;
            add({&partitions[i], i, {node->second}, &view});
        }
        if (!any && request_.empty_partitions) add({&partitions[i], i, {}, &view});
    }
    for (NodeGroup& group : groups) {
        const auto less = [](const model::Node* a, const model::Node* b) { return a < b; };
        std::ranges::sort(group.nodes, less);  // The order of the configuration.
        const auto repeated = std::ranges::unique(group.nodes);
        group.nodes.erase(repeated.begin(), repeated.end());
    }
    return groups;
}

std::string NodeTable::order_key(const NodeGroup& group) const {
    OrderKey key;
    for (const SortTerm& term : sort_) {
        const char letter = term.field->letter;
        if (letter == 'P' && term.as_configured) {
            key.add_number(static_cast<std::int64_t>(group.partition_index), term.descending);
        } else if (letter == 't' || letter == 'T') {
            key.add_number(group.nodes.empty() ? 0 : state_rank(*group.nodes.front()),
                           term.descending);
        } else if (letter == 'N') {
            key.add_host(group.nodes.empty() ? std::string() : group.nodes.front()->config.name,
                         term.descending);
        } else {
            key.add_value(term.field->text(group), term.descending);
        }
    }
    return std::move(key).bytes();
}

std::string NodeTable::lines(const std::vector<model::Partition>& partitions,
                             const std::vector<model::Node>& nodes, const NodeView& view) const {
    const std::vector<NodeGroup> groups = gather(partitions, nodes, view);
    std::vector<std::pair<std::string, std::size_t>> order;  // Equal keys stay as gathered.
    for (std::size_t i = 0; i < groups.size(); ++i) order.emplace_back(order_key(groups[i]), i);
    std::ranges::sort(order);
    std::string text;
    for (const auto& [key, index] : order) table_.append_row(text, groups[index]);
    return text;
}

}  // namespace switchyard::view
