// cgroup.cpp: the step's cgroup with its limits, or what its processes are known by without one.
#include <fmt/format.h>

#include "os/no_containment.hpp"
#include "os/topology.hpp"
#include "stepd/gpu_environment.hpp"
#include "stepd/setup/parts.hpp"

namespace switchyard::stepd::setup {
namespace {

constexpr std::uint64_t kBytesPerMiB = 1024 * 1024;

std::optional<std::uint64_t> bytes_of(model::MiB memory) {
    if (memory.value == 0) return std::nullopt;
    return memory.value * kBytesPerMiB;
}

os::StepLimits limits(const Launch& launch) {
    os::StepLimits limits;
    const model::NodeGrant& own = launch.here().grant;
    if (launch.constrain_cores) {
        limits.job_cpus = os::cpus_of_cores(launch.setup.core_cpus, launch.job_grant.cores);
        limits.step_cpus = os::cpus_of_cores(launch.setup.core_cpus, own.cores);
    }
    if (launch.constrain_memory) {
        limits.job_memory = bytes_of(launch.job_grant.memory);
        if (!launch.is_batch()) limits.step_memory = bytes_of(own.memory);
    }
    limits.denied_devices = denied_devices(launch);
    return limits;
}

}  // namespace

Status make_cgroup(Step& step) { return step.walls.create(step.launch.key, limits(step.launch)); }

Status mark(Step& step, std::uint32_t, os::ChildPlan& plan) {
    const os::ContainmentPlan& walls = step.launch.setup.containment;
    if (walls.kind != "none") return {};
    plan.environment.push_back(
        fmt::format("{}={}", os::kStepMarker, os::marker_of(walls.place, step.launch.key)));
    return {};
}

}  // namespace switchyard::stepd::setup
