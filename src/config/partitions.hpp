// partitions.hpp: PartitionName lines into partitions.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/findings.hpp"
#include "config/lines.hpp"
#include "config/nodes.hpp"
#include "model/partition.hpp"

namespace switchyard::config {

class PartitionTable {
  public:
    // Node names are looked up at finish(), when all nodes are known.
    void add(const Line& line, const std::string& where, Findings& findings);
    std::vector<model::Partition> finish(const NodeTable& nodes, Findings& findings);

  private:
    struct Entry {
        model::Partition partition;
        std::string nodes;
        std::string where;
    };
    std::vector<Pair> defaults_;
    std::vector<Entry> entries_;
    std::map<std::string, std::size_t> index_;
};

}  // namespace switchyard::config
