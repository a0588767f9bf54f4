// operators.hpp: who may do what administrators do.
#pragma once

#include "core/cluster/cluster.hpp"

namespace switchyard::controller {

// Root and SlurmUser.
inline bool is_operator(const core::Cluster& cluster, const model::Caller& caller) {
    return caller.uid == 0 || caller.uid == cluster.settings().operator_uid;
}

}  // namespace switchyard::controller
