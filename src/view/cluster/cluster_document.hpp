// cluster_document.hpp: the lists of sacctmgr that have entries here, as JSON and YAML.
#pragma once

#include <string>

#include "view/cluster/cluster_tres.hpp"
#include "view/document.hpp"

namespace switchyard::view {

struct ClusterFacts {
    std::string name, host, nodes;
    std::uint32_t port = 0, rpc_version = 0;
    bool shares_hosts = false;  // Several nodes on one host.
    std::vector<CountedTres> tres;
};

void write_cluster(Document& document, const ClusterFacts& cluster);
void write_tres(Document& document, const CountedTres& tres);

}  // namespace switchyard::view
