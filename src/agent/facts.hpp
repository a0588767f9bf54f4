// facts.hpp: what an agent says of its node: the machine as it is, or, for a pretend node, as it is
// configured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/config.hpp"
#include "model/node.hpp"
#include "os/topology.hpp"

namespace switchyard::agent {

// Which node this process is: -N, or the one whose host this is. None: a login host, which only
// relays. Several without -N: InvalidArgument.
Result<std::optional<model::NodeConfig>> find_node(const config::Config& config,
                                                   const std::string& wanted,
                                                   const std::string& host);

// Several nodes on one host, or a node under another name than its host's.
bool is_pretend(const model::NodeConfig& node);

model::NodeFacts make_facts(const config::Config& config, const model::NodeConfig& node,
                            const os::Topology& topology, const std::string& containment);

// The cpus of the node's cores. Pretend nodes on one host lie side by side on its cores; if they
// have more than the machine, nobody is pinned: the result is empty.
std::vector<model::IndexSet> place_cores(const config::Config& config,
                                         const model::NodeConfig& node,
                                         const os::Topology& topology);

// "NodeName=vm CPUs=2 ..." and "UpTime=0-00:58:26": slurmd -C.
std::string hardware_lines(const std::string& host, const os::Topology& topology, Seconds up);

}  // namespace switchyard::agent
