// task_scripts.hpp: TaskProlog and TaskEpilog, and srun's --task-prolog and --task-epilog: programs
// that run as the user around every task.
//
// The stepd waits for them, with a limit: they come before the task exists or after it is gone, and
// only where a site or a user asked for them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "os/child.hpp"

namespace switchyard::stepd {

// Runs `program` as the plan says (user, folder, environment, cgroup) and returns what it printed.
// A status other than 0, or a minute without an end, is an error.
Result<std::string> run_task_script(const std::string& program, os::ChildPlan plan);

// What a prolog printed, line by line: "export NAME=value" and "unset NAME" change the environment
// of the task; "print text" is returned, for the task's standard output; other lines mean nothing.
std::string apply_task_prolog(std::string_view printed, std::vector<std::string>& environment);

}  // namespace switchyard::stepd
