// setup.hpp: what a step is given on its node before its tasks run.
//
// Each part is a function over the launch, in a file of its own beside this one: some are for the
// whole step, some for each of its tasks. The lists in setup.cpp are all of them, in their order.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "io/loop.hpp"
#include "os/child.hpp"
#include "os/containment.hpp"
#include "os/log.hpp"
#include "pmi/server.hpp"
#include "stepd/binding.hpp"
#include "stepd/launch.hpp"
#include "stepd/turns_door.hpp"

namespace switchyard::stepd::setup {

// What the parts have made for the step; it lives as long as the step does.
struct Step {
    io::Loop& loop;
    const Launch& launch;
    os::Containment& walls;
    const os::Log& log;
    pmi::Send send_pmi;    // To srun.
    pmi::Ready pmi_ready;  // Not called where there is no server.

    bool changes_process = false;  // It leaves a trace in this process.
    // For the user: the step goes on without that part.
    std::vector<std::string> complaints = {};
    std::vector<std::unique_ptr<TurnsDoor>> turns = {};  // Of the cards that the guard keeps.
    std::string script_folder = {}, script = {};         // Of a batch job.
    Binding binding = {};
    std::unique_ptr<pmi::Server> pmi = {};
};

// Before srun is told of the step, and before its first task.
Status prepare_node(Step& step);
Status prepare_tasks(Step& step);
// What a task will be but for its streams. `local`: which of this node's tasks; 0: the script.
Result<os::ChildPlan> plan_task(Step& step, std::uint32_t local);
// What it has in common with the site's programs around it: user, folder, limits.
os::ChildPlan plan_script(Step& step);

// The site's own programs around each task, and srun's: TaskProlog and --task-prolog, the other way
// round behind the task.
std::vector<std::string> prologs(const Launch& launch);
std::vector<std::string> epilogs(const Launch& launch);

void remove_script(const Step& step);

}  // namespace switchyard::stepd::setup
