// sacctmgr_document.hpp: the lists of sacctmgr that have entries here, as JSON and YAML.
#pragma once

#include <string>

#include "cli/accounting/cluster_tres.hpp"
#include "cli/format/document.hpp"

namespace switchyard::cli::accounting {

struct ClusterFacts {
    std::string name, host, nodes;
    std::uint32_t port = 0, rpc_version = 0;
    bool shares_hosts = false;  // Several nodes on one host.
    std::vector<CountedTres> tres;
};

void write_cluster(format::Document& document, const ClusterFacts& cluster);
void write_tres(format::Document& document, const CountedTres& tres);

}  // namespace switchyard::cli::accounting
