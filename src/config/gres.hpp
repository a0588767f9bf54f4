// gres.hpp: what generic resources a node has: Gres= of its NodeName line, made concrete by
// gres.conf.
//
// Gres= says how many; gres.conf says which device files, and which cores are near them. Shares
// (shard, mps) are spread evenly over the cards of their node.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/findings.hpp"
#include "config/lines.hpp"
#include "config/nodes.hpp"

namespace switchyard::config {

// Fills `gres` of every node. `gres_conf` has no lines where there is no such file.
void settle_gres(std::vector<NodeEntry>& nodes, const Lines& gres_conf, Findings& findings);

// AutoDetect= by node, in lower case; "" is for all nodes.
std::map<std::string, std::string> find_auto_detect(const Lines& gres_conf);

}  // namespace switchyard::config
