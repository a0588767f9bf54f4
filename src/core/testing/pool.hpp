// pool.hpp: pools of nodes for the scheduler's tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/sched/node_pool.hpp"
#include "model/node.hpp"
#include "model/partition.hpp"

namespace switchyard::core::testing {

inline constexpr std::uint32_t kPoolCores = 8;

// So many nodes, n0, n1, ..., each one socket of eight cores.
inline std::vector<model::Node> plain_nodes(std::uint32_t count) {
    std::vector<model::Node> nodes(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        model::NodeConfig& config = nodes[i].config;
        config.name = "n" + std::to_string(i);
        config.cpus = config.cores_per_socket = kPoolCores;
        config.sockets = config.threads_per_core = 1;
        config.memory = model::MiB{1000};
    }
    return nodes;
}

// All of them in one partition, open.
inline sched::NodePool pool_of(const std::vector<model::Node>& nodes) {
    model::Partition partition;
    partition.name = "debug";
    for (const model::Node& node : nodes) partition.nodes.push_back(node.config.name);
    sched::NodePool pool;
    pool.reset(nodes, sched::Selection::Unit::Core);
    pool.set_partitions({partition});
    for (sched::NodeIndex i = 0; i < nodes.size(); ++i) pool.set_open(i, true, true);
    return pool;
}
inline sched::NodePool pool_of(std::uint32_t count) { return pool_of(plain_nodes(count)); }

}  // namespace switchyard::core::testing
