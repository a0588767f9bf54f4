// cluster_tres.hpp: what can be counted on the cluster, with the numbers Slurm knows them by.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/node.hpp"

namespace switchyard::view {

struct CountedTres {
    std::string type, name;
    std::uint32_t id = 0;
    std::uint64_t count = 0;  // On all nodes together.
};

// What Slurm always counts, then what the nodes have besides.
std::vector<CountedTres> count_tres(const std::vector<model::Node>& nodes);

}  // namespace switchyard::view
