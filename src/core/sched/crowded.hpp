// crowded.hpp: who waits because of the first in line of another partition. Nodes that such a job
// waits for are kept from jobs of other partitions behind it; one that is left with too few of them
// is told so, and not that it waits for resources.
#pragma once

#include "core/sched/queue.hpp"

namespace switchyard::core::sched {

// Whether the first in line of the partition is left with fewer nodes than it needs by those that
// are first in line elsewhere and ahead of it.
bool is_crowded_out(Queue& queue, const NodePool& pool, PartitionIndex partition);

}  // namespace switchyard::core::sched
