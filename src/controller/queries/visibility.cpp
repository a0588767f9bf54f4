#include "controller/queries/visibility.hpp"

#include <algorithm>

namespace switchyard::controller {
namespace {

bool is_in_any(const Names& names, const model::Caller& caller,
               const std::vector<std::string>& groups) {
    return std::ranges::any_of(
        names.group_names_of(caller.uid, caller.gid),
        [&](const std::string& name) { return std::ranges::find(groups, name) != groups.end(); });
}

}  // namespace

std::vector<std::string> concealed_partitions(const core::Cluster& cluster, const Names& names,
                                              const model::Caller& caller) {
    std::vector<std::string> concealed;
    if (cluster.rights_of(caller).may_see_hidden_partitions()) return concealed;
    for (const model::Partition& partition : cluster.partitions()) {
        const bool closed =
            !partition.allow_groups.empty() && !is_in_any(names, caller, partition.allow_groups);
        if (partition.hidden || closed) concealed.push_back(partition.name);
    }
    return concealed;
}

}  // namespace switchyard::controller
