// launch.hpp: the complete message by which a node starts its part of a step.
#pragma once

#include <string>
#include <string_view>

#include "config/config.hpp"
#include "controller/names/addresses.hpp"
#include "controller/names/names.hpp"
#include "core/cluster/cluster.hpp"
#include "model/job.hpp"
#include "model/step.hpp"

namespace switchyard::controller {

struct LaunchContext {
    const config::Config& config;
    const Names& names;
    const Addresses& addresses;
    const core::Cluster& cluster;
};

// What has to be looked up before steps of the job are launched, on whichever of its nodes.
std::vector<NameKey> names_for_launch(const LaunchContext& context, const model::Job& job);

// An encoded wire::LaunchStep without the bulky part (payload or srun's StepLaunch). The job holds
// an allocation with this node. `step` is null for a batch step that has no record of its own.
std::string encode_launch(const LaunchContext& context, const model::Job& job, const StepKey& key,
                          const model::Step* step, const std::string& node);

// The frame to the agent: the launch and, as it came from the submitter, its bulky part.
enum class BulkKind : std::uint32_t { Job = 7, Step = 8 };  // Field numbers in wire::LaunchStep.
std::string launch_frame(std::string_view launch, BulkKind kind, std::string_view bulk);

}  // namespace switchyard::controller
