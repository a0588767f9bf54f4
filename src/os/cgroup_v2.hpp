// cgroup_v2.hpp: containment by the unified hierarchy.
#pragma once

#include "os/containment.hpp"

namespace switchyard::os {

// Makes this node's folder below the mount, or below this process's own cgroup where only that is
// ours (a container, a delegated unit). False, with notices, if neither can be written to.
bool prepare_cgroup_v2(const std::string& mount, ContainmentPlan& plan);
std::unique_ptr<Containment> make_cgroup_v2(const ContainmentPlan& plan);

}  // namespace switchyard::os
