// program.cpp: who a task is and what it runs, with which variables.
#include "model/multi_prog.hpp"
#include "os/topology.hpp"
#include "stepd/environment.hpp"
#include "stepd/output_files.hpp"
#include "stepd/setup/parts.hpp"

namespace switchyard::stepd::setup {
namespace {

std::vector<os::ChildLimit> to_limits(const std::vector<model::ResourceLimit>& limits) {
    std::vector<os::ChildLimit> out;
    for (const model::ResourceLimit& limit : limits)
        out.push_back({limit.resource, limit.soft, limit.hard});
    return out;
}

Status choose_script(const Step& step, os::ChildPlan& plan) {
    const std::vector<std::string>& arguments = step.launch.payload.arguments;
    plan.argv = {step.script};
    plan.argv.insert(plan.argv.end(), arguments.begin(), arguments.end());
    plan.programs = {step.script};
    plan.environment = batch_environment(step.launch);
    plan.reports_messages = true;
    return {};
}

}  // namespace

Status become_user(Step& step, std::uint32_t, os::ChildPlan& plan) {
    const Launch& launch = step.launch;
    plan.pid_variable = "SLURM_TASK_PID";
    plan.who = launch.who;
    plan.work_dir = work_dir(launch);
    plan.umask = launch.payload.umask;
    plan.limits = to_limits(launch.payload.limits);
    if (launch.constrain_cores && !step.walls.pins_cores())
        plan.cpus = os::cpus_of_cores(launch.setup.core_cpus, launch.here().grant.cores);
    return {};
}

Status choose_program(Step& step, std::uint32_t local, os::ChildPlan& plan) {
    const Launch& launch = step.launch;
    if (launch.is_batch()) return choose_script(step, plan);
    plan.environment = task_environment(launch, local);
    plan.argv = launch.command.argv;
    if (!launch.command.multi_prog.empty()) {
        SY_TRY(plan.argv,
               model::multi_prog_command(launch.command.multi_prog, launch.here().tasks[local]));
    }
    if (plan.argv.empty()) return fail(Errc::InvalidArgument, "no command was given");
    plan.programs = os::program_candidates(plan.argv[0], plan.environment, plan.work_dir);
    // Nobody else would see what we have to say.
    plan.reports_messages = !launch.has_srun() && local == 0;
    return {};
}

}  // namespace switchyard::stepd::setup
