// task_scripts.hpp: TaskProlog and TaskEpilog, and srun's --task-prolog and --task-epilog: programs
// that run as the user around every task.
//
// They are processes of the step like its tasks: the stepd hears of their end as of any other's,
// and whoever takes too long is killed.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "io/fd.hpp"
#include "io/loop.hpp"
#include "os/child.hpp"

namespace switchyard::stepd {

class TaskScript {
  public:
    // Once. A status other than 0, or too long a time, is an error. May destroy this.
    using Done = std::function<void(const Status& status, const std::string& printed)>;
    TaskScript(io::Loop& loop, std::string program, Done done)
        : loop_(loop), program_(std::move(program)), done_(std::move(done)) {}

    // As the plan says: user, folder, environment, cgroup.
    Status start(os::ChildPlan plan, Millis time_max);
    pid_t pid() const { return pid_; }
    void ended(int status);  // It was waited for.

  private:
    bool read_some();

    io::Loop& loop_;
    std::string program_;
    Done done_;
    pid_t pid_ = 0;
    io::Fd output_;
    io::Loop::Watch watch_;
    io::Loop::Timer timer_;
    std::string printed_;
    bool timed_out_ = false;
};

// What a prolog printed, line by line: "export NAME=value" and "unset NAME" change the environment
// of the task; "print text" is returned, for the task's standard output; other lines mean nothing.
std::string apply_task_prolog(std::string_view printed, std::vector<std::string>& environment);

}  // namespace switchyard::stepd
