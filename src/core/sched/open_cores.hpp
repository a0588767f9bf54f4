// open_cores.hpp: what of a node's cores is there for a job that may have only some of them,
// because others belong to a reservation.
#pragma once

#include <optional>

#include "core/sched/node_pool.hpp"
#include "core/sched/placement.hpp"

namespace switchyard::core::sched {

// The terms on which the view's job may hold the node; none: it may not.
std::optional<Admission> admission_in(const NodePool& pool, NodeIndex node, const View& view);

// At most the cores that the terms allow, whoever holds them.
void limit_to(Room& room, const NodeEntry& node, const Admission& admission);

// At most those of them that nobody holds, and that are kept for nobody ahead, while it would be
// there. Places are kept without numbers of cores: each counts against those whose cores it may
// come to be given.
void limit_to_open(Room& room, const NodePool& pool, NodeIndex node, const View& view,
                   const Admission& admission);

}  // namespace switchyard::core::sched
