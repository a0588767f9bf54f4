// memory.cpp: in which memory domains each task gets its memory.
#include <linux/mempolicy.h>

#include "stepd/setup/parts.hpp"

namespace switchyard::stepd::setup {
namespace {

void set_policy(os::ChildPlan& plan, const MemoryBinding& binding) {
    using Policy = MemoryBinding::Policy;
    if (binding.policy == Policy::Inherited) return;
    plan.memory_policy = binding.policy == Policy::Local   ? MPOL_LOCAL
                         : binding.policy == Policy::Bound ? MPOL_BIND
                                                           : MPOL_PREFERRED;
    for (const std::uint32_t domain : binding.domains.to_vector()) {
        if (domain < 64) plan.memory_domains |= std::uint64_t{1} << domain;
    }
}

}  // namespace

Status choose_memory(Step& step) {
    if (step.launch.is_batch()) return {};
    const auto count = static_cast<std::uint32_t>(step.launch.here().tasks.size());
    if (auto memory = bind_memory(step.launch.command.mem_bind, count)) {
        step.binding.memory = *std::move(memory);
    } else {
        step.complaints.push_back(memory.error().message);
        step.binding.memory.resize(count);
    }
    return {};
}

Status bind_to_memory(Step& step, std::uint32_t local, os::ChildPlan& plan) {
    const Launch& launch = step.launch;
    if (launch.is_batch()) return {};
    const MemoryBinding& memory = step.binding.memory[local];
    set_policy(plan, memory);
    if (memory.verbose)
        plan.preface += memory_line(launch.node, launch.here().tasks[local], local, memory);
    return {};
}

}  // namespace switchyard::stepd::setup
