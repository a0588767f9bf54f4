// place.hpp: what every PMI server of a step knows of it: who runs where, and as whom.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace switchyard::pmi {

struct NodePlace {
    std::string name;
    std::vector<std::uint32_t> tasks;  // Global ranks, in local order.
};

struct Place {
    std::string step;  // "12.0": the name of the key-value space, and of PMIx's namespace.
    std::vector<NodePlace> nodes;
    std::uint32_t node_index = 0;     // Which of them we are.
    std::uint32_t universe_size = 0;  // Processors of the job.
    std::uint32_t uid = 0, gid = 0;
    std::string folder;  // A parent for what a server must have on disk.

    const NodePlace& here() const { return nodes[node_index]; }
    std::uint32_t task_count() const;
    // The node of a rank; as many as there are nodes if there is no such rank.
    std::uint32_t node_of(std::uint32_t rank) const;
};

// "(vector,(0,2,4))": which ranks share a node, as MPICH reads it. A triple is a first node, a
// number of nodes, and how many successive ranks each of them has.
std::string process_mapping(const Place& place);

}  // namespace switchyard::pmi
