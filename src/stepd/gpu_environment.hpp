// gpu_environment.hpp: what a task is told of its cards, and how it is kept to its share of them.
//
// Pure: a function of the launch. Every task sees all cards that its step has on the node, unless
// it asked for binding (--gpu-bind).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "os/containment.hpp"
#include "stepd/environment.hpp"
#include "stepd/launch.hpp"

namespace switchyard::stepd {

// Whether the containment keeps the step from opening cards that are not its own.
bool hides_devices(const Launch& launch);
// The cards of a grant, by their numbers on the node.
std::vector<std::uint32_t> visible_devices(const model::NodeGrant& grant);
// The device files that this step must not open.
std::vector<os::DeviceFile> denied_devices(const Launch& launch);

// `local`: which of this node's tasks; none: the batch script.
void set_gres(Environment& env, const Launch& launch, std::optional<std::uint32_t> local);

// The guard holds tasks of this step: its files must be there before they start.
bool is_guarded(const Launch& launch);
// The cards of which it has a share that the guard keeps.
std::set<std::uint32_t> guarded_cards(const Launch& launch);
Status make_guard_files(const Launch& launch);
// The driver itself holds the whole job to its share of each card's memory, where the node says so.
// The job's cgroup must be there.
Status limit_cards(const Launch& launch, const std::string& library = "libnvidia-ml.so.1");

// What --gpu-bind=verbose prints for one task; empty: nothing.
std::string gpu_binding_line(const Launch& launch, std::uint32_t local);

}  // namespace switchyard::stepd
