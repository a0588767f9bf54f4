// layout.hpp: how ranks spread over the nodes of a step.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "model/job_spec.hpp"

namespace switchyard::model {

struct LayoutRequest {
    std::vector<std::uint32_t> slots;  // How many tasks each node can hold (cpus / cpus per task).
    std::uint32_t tasks = 0;
    std::uint32_t tasks_per_node = 0;  // 0: as many as fit.
    Distribution
        distribution;         // Unset: block, as srun does inside a job of several tasks per node.
    bool overcommit = false;  // Slots may be passed evenly.
    std::vector<std::uint32_t> arbitrary;  // For Arbitrary: the node (by position) of each rank.
};

// The ranks of each node, in local order. Every node gets at least one task if there are enough,
// and tasks spread evenly unless the distribution says Pack. With tasks_per_node and no `tasks`,
// every node gets so many. InvalidTaskCount if they do not fit; TaskDistribution for a plane
// without size or a wrong arbitrary list.
Result<std::vector<std::vector<std::uint32_t>>> lay_out(const LayoutRequest& request);

}  // namespace switchyard::model
