// cgroup_v1.hpp: containment by the first version of cgroups, one hierarchy for each controller.
#pragma once

#include "os/containment.hpp"

namespace switchyard::os {

// Makes this node's folder in each hierarchy. False, with notices, if there is no freezer to use.
bool prepare_cgroup_v1(const std::vector<std::pair<std::string, std::string>>& mounts,
                       ContainmentPlan& plan);
std::unique_ptr<Containment> make_cgroup_v1(const ContainmentPlan& plan);

}  // namespace switchyard::os
