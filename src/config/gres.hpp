// gres.hpp: what generic resources a node has: Gres= of its NodeName line, made concrete by
// gres.conf.
//
// Gres= says how many; gres.conf says which device files, and which cores are near them. Shares
// (shard, mps) are spread evenly over the cards of their node.
#pragma once

#include <string>
#include <vector>

#include "config/findings.hpp"
#include "config/lines.hpp"
#include "config/nodes.hpp"

namespace switchyard::config {

// Fills `gres` of every node. `gres_conf` has no lines where there is no such file.
void settle_gres(std::vector<NodeEntry>& nodes, const Lines& gres_conf, Findings& findings);

}  // namespace switchyard::config
