#include "stepd/setup/setup.hpp"

#include "stepd/setup/parts.hpp"

namespace switchyard::stepd::setup {
namespace {

using StepPart = Status (*)(Step& step);
using TaskPart = Status (*)(Step& step, std::uint32_t local, os::ChildPlan& plan);

constexpr StepPart kOfNode[] = {guard_cards, make_cgroup, limit_cards, resolve_names};
constexpr StepPart kBeforeTasks[] = {write_script, choose_cores, choose_memory, open_pmi};
constexpr TaskPart kOfTask[] = {become_user,   choose_program, open_batch_files, mark,
                                bind_to_cores, bind_to_memory, say_cards};

}  // namespace

Status prepare_node(Step& step) {
    for (const StepPart part : kOfNode) SY_CHECK(part(step));
    return {};
}

Status prepare_tasks(Step& step) {
    for (const StepPart part : kBeforeTasks) SY_CHECK(part(step));
    return {};
}

Result<os::ChildPlan> plan_task(Step& step, std::uint32_t local) {
    os::ChildPlan plan;
    for (const TaskPart part : kOfTask) SY_CHECK(part(step, local, plan));
    return plan;
}

os::ChildPlan plan_script(Step& step) {
    os::ChildPlan plan;
    (void)become_user(step, 0, plan);
    return plan;
}

}  // namespace switchyard::stepd::setup
