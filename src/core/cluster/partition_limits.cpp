// partition_limits.cpp: see partition_limits.hpp.

#include "core/cluster/partition_limits.hpp"

#include <algorithm>

#include "core/cluster/memory_limits.hpp"
#include "core/sched/idle.hpp"
#include "core/sched/shape.hpp"

namespace switchyard::core {

using model::Reason;

// Why the partition as configured can never start it; such a job waits for the partition to be
// changed.
std::optional<Reason> limit_problem(const World& world, const JobSpec& spec,
                                    const model::Partition& partition) {
    if (spec.time_limit && partition.max_time < *spec.time_limit) {
        const bool least_fits = spec.time_min && !(partition.max_time < *spec.time_min);
        if (!least_fits) return Reason::PartitionTimeLimit;
    }
    if (exceeds_memory(spec, partition, world.settings)) return Reason::MaxMemPerLimit;
    const PartitionIndex index = *world.partition_index(partition.name);
    const sched::Shape shape = sched::shape_of(spec, partition, world.settings);
    const std::size_t nodes = world.pool.order(index).size();
    if (shape.nodes_min > nodes ||
        (partition.max_nodes && shape.nodes_min > *partition.max_nodes) ||
        (spec.nodes_max && *spec.nodes_max < partition.min_nodes)) {
        return Reason::PartitionNodeLimit;
    }
    for (const std::string& name : spec.required_nodes) {
        if (std::ranges::find(partition.nodes, name) == partition.nodes.end())
            return Reason::BadConstraints;
    }
    // Quick ways to a yes, for the common job: it fits on any one node.
    if (shape.nodes_min == 1 && shape.tasks == 1 && spec.required_nodes.empty())
        return std::nullopt;
    const sched::Demand demand = sched::make_demand(shape, world.pool);
    // Nodes that nobody has described yet may turn out to be large enough.
    const bool holds = sched::could_hold(world.pool, index, demand, sched::Nodes::All);
    if (holds || sched::has_undescribed(world.pool, index)) return std::nullopt;
    return Reason::PartitionNodeLimit;
}

}  // namespace switchyard::core
