// nodes.hpp: NodeName, NodeSet and DownNodes lines into nodes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/findings.hpp"
#include "config/lines.hpp"
#include "model/node.hpp"

namespace switchyard::config {

// A node as configured, with its Gres= still text: gres.conf has a say in what it means.
struct NodeEntry {
    model::NodeConfig config;
    std::string gres;
    std::string where;
};

class NodeTable {
  public:
    void add_nodes(const Line& line, const std::string& where, Findings& findings);     // NodeName=
    void add_node_set(const Line& line, const std::string& where, Findings& findings);  // NodeSet=
    void add_down_nodes(const Line& line, const std::string& where,
                        Findings& findings);  // DownNodes=
    // After the last line: DownNodes and NodeSets may stand before the nodes they name.
    void finish(Findings& findings);

    std::vector<NodeEntry>& entries() { return entries_; }
    bool contains(const std::string& name) const { return index_.contains(name); }
    // The names an expression of a partition stands for: nodes, node sets, ALL. Unknown names are
    // errors.
    std::vector<std::string> resolve(const std::string& expression, const std::string& where,
                                     const std::string& of, Findings& findings) const;

  private:
    struct Deferred {
        Line line;
        std::string where;
    };
    void finish_node_set(const Deferred& set, Findings& findings);
    void finish_down_nodes(const Deferred& down, Findings& findings);
    std::vector<std::string> all() const;

    std::vector<Pair> defaults_;  // Of NodeName=DEFAULT, later ones first to be overridden.
    std::vector<NodeEntry> entries_;
    std::map<std::string, std::size_t> index_;
    std::vector<Deferred> sets_to_do_, down_to_do_;
    std::map<std::string, std::vector<std::string>> sets_;
};

}  // namespace switchyard::config
