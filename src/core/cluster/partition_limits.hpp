// partition_limits.hpp: what the limits of a partition and the nodes it has say to a job.
#pragma once

#include <optional>

#include "core/cluster/world.hpp"
#include "model/job_state.hpp"

namespace switchyard::core {

// Why the partition as configured cannot hold it; none: it can.
std::optional<model::Reason> limit_problem(const World& world, const JobSpec& spec,
                                           const model::Partition& partition);

}  // namespace switchyard::core
