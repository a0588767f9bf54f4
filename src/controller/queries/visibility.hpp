// visibility.hpp: which partitions somebody is not shown unless they ask for all of them.
#pragma once

#include <string>
#include <vector>

#include "controller/names/names.hpp"
#include "core/cluster/cluster.hpp"

namespace switchyard::controller {

// Those that are hidden, and those whose AllowGroups the caller is in none of. Operators are shown
// all.
std::vector<std::string> concealed_partitions(const core::Cluster& cluster, const Names& names,
                                              const model::Caller& caller);

}  // namespace switchyard::controller
