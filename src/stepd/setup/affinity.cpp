// affinity.cpp: on which cores each task runs.
#include "os/topology.hpp"
#include "stepd/setup/parts.hpp"

namespace switchyard::stepd::setup {
namespace {

// Where the cores are, and of each so many threads as the job wants to use.
void find_places(BindRequest& request, std::optional<std::uint32_t> threads) {
    for (model::IndexSet& core : request.cores) {
        if (core.empty()) continue;
        request.sockets.push_back(os::socket_of_cpu(core.front()));
        request.ldoms.push_back(os::domain_of_cpu(core.front()));
        if (threads && *threads < core.size()) core = core.first(*threads);
    }
}

BindRequest request_of(const Launch& launch) {
    BindRequest request;
    const model::StepNode& here = launch.here();
    request.tasks = static_cast<std::uint32_t>(here.tasks.size());
    request.cpus_per_task = launch.spec.cpus_per_task.value_or(1);
    request.wish = launch.command.cpu_bind;
    const bool pinned = !os::cpus_of_cores(launch.setup.core_cpus, here.grant.cores).empty();
    if (launch.constrain_cores && pinned) {
        for (const std::uint32_t core : here.grant.cores.to_vector())
            request.cores.push_back(launch.setup.core_cpus[core]);
    }
    const std::string_view over_sockets = launch.spec.distribution.sockets;
    request.distribution = over_sockets.substr(0, over_sockets.find(':'));
    find_places(request, launch.job.spec->threads_per_core);
    return request;
}

}  // namespace

Status choose_cores(Step& step) {
    if (step.launch.is_batch()) return {};
    auto binding = bind_tasks(request_of(step.launch));
    if (binding) {
        step.binding = *std::move(binding);
    } else {
        step.complaints.push_back(binding.error().message);
        step.binding.tasks.resize(step.launch.here().tasks.size());
    }
    return {};
}

// Without a cpuset all that the step has; then what was chosen for the task.
Status bind_to_cores(Step& step, std::uint32_t local, os::ChildPlan& plan) {
    const Launch& launch = step.launch;
    if (launch.is_batch() || step.binding.tasks[local].empty()) return {};
    plan.cpus = step.binding.tasks[local];
    if (step.binding.verbose)
        plan.preface += binding_line(launch.node, launch.here().tasks[local], local, 0, plan.cpus);
    return {};
}

}  // namespace switchyard::stepd::setup
