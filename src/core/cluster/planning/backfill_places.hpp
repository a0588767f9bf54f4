// backfill_places.hpp: what a planned start takes of a node, whether it still can, and what people
// see of it.
#pragma once

#include "base/ids.hpp"
#include "base/time.hpp"
#include "core/cluster/world.hpp"
#include "core/sched/node_pool.hpp"
#include "core/sched/outlook.hpp"
#include "core/sched/planner.hpp"

namespace switchyard::core {

sched::Reserved reserved_for(const sched::NodePool& pool, const sched::Demand& demand,
                             Seconds limit, sched::QueueKey key, const sched::Planned& planned,
                             const sched::Pick& pick);

// Whether the nodes can still be as it was foreseen.
bool still_holds(const World& world, sched::QueueKey key, const sched::Planned& planned,
                 const sched::Demand& demand, Seconds limit, sched::Outlook& beside);

// The job's estimated start time and nodes.
void estimate_start(World& world, JobId job, const sched::Planned& planned);

}  // namespace switchyard::core
