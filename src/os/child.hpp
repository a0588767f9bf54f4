// child.hpp: a process of a step, from fork to exec: into its cgroup, its cores, its user, its
// files.
//
// Everything is prepared before the fork; the child only makes system calls, so the fork need not
// copy this process (vfork). What goes wrong in the child is written to its standard error, in the
// words that Slurm uses, and its exit code is the error number.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/index_set.hpp"
#include "os/containment.hpp"
#include "os/users.hpp"

namespace switchyard::os {

struct ChildLimit {
    int resource = 0;  // RLIMIT_*
    std::uint64_t soft = 0, hard = 0;
};

struct ChildPlan {
    std::vector<std::string> argv;
    std::vector<std::string> environment;
    // Tried in order until one can be executed, as a shell walks PATH.
    std::vector<std::string> programs;
    // Set in the environment to the child's own process id (SLURM_TASK_PID).
    std::string pid_variable;

    Identity who;
    Entrance entrance;
    std::string work_dir;                         // Falls back to /tmp, with a message.
    int std_in = -1, std_out = -1, std_err = -1;  // -1: /dev/null.
    int kept = -1;  // One more descriptor that it has, under the number that it has here.
    std::uint32_t umask = 0022;
    std::vector<ChildLimit> limits;
    model::IndexSet cpus;  // Empty: as inherited.
    // set_mempolicy(2): -1 leaves it; the domains are bits of the mask.
    int memory_policy = -1;
    std::uint64_t memory_domains = 0;
    bool terminal = false;  // Standard input is a terminal and becomes the controlling one.
    std::string preface;    // Written to standard error first, e.g. the report of a core binding.
};

// The paths a shell would try for `name`: itself if it has a slash (made absolute by `work_dir`),
// else its place in each folder of PATH in `environment`.
std::vector<std::string> program_candidates(const std::string& name,
                                            const std::vector<std::string>& environment,
                                            const std::string& work_dir);

// The child leads a session of its own. It is to be waited for.
Result<pid_t> start_child(ChildPlan plan);

}  // namespace switchyard::os
