// memory_limits.hpp: MaxMemPerCPU and MaxMemPerNode, of the partition or else of the cluster.
#pragma once

#include "core/cluster/settings.hpp"
#include "model/job_spec.hpp"
#include "model/partition.hpp"

namespace switchyard::core {

// A job that asks for more memory by CPU than is allowed gets more CPUs for it, where that will do;
// one that asks for none gets the limit.
void fit_memory_limit(model::JobSpec& spec, const model::Partition& partition,
                      const Settings& settings);

// Whether it asks for more than the partition will ever give.
bool exceeds_memory(const model::JobSpec& spec, const model::Partition& partition,
                    const Settings& settings);

}  // namespace switchyard::core
