// child.hpp: a process of a step, from fork to exec: into its cgroup, its cores, its user, its
// files.
//
// Everything that a user has named is touched by the child alone, as that user: its folder, its
// files, its program. Whoever started it waits for none of that: a FIFO may have no other end, a
// mount may not answer, a lease may hold up exec. What goes wrong in the child is written to its
// standard error, in the words that Slurm uses, and its exit code is the error number.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "io/fd.hpp"
#include "model/index_set.hpp"
#include "os/containment.hpp"
#include "os/users.hpp"

namespace switchyard::os {

struct ChildLimit {
    int resource = 0;  // RLIMIT_*
    std::uint64_t soft = 0, hard = 0;
};

// A standard stream that is a file, which the child opens as the user. One to be written is made
// with the folders that lead to it.
struct ChildFile {
    std::string path;  // In the working folder, unless it is absolute. Empty: none.
    int flags = 0;     // Of open(2).
    // What it held goes if it was written before: others of the step open it too.
    std::optional<Instant> anew_if_older;
    // For whoever started the child, by its report; the child itself has the descriptor.
    bool handed_over = false;
};

// What a child says of itself before it becomes its program, as packets of a socket.
struct ChildReport {
    enum class Kind : char {
        Complaint = 'c',  // About its folder, which it says on its standard error as well.
        Failure = 'f',    // A file that cannot be opened: it has ended.
        Files = 'o',      // All are open. Here are those that were to be handed over.
    };
    Kind kind = Kind::Complaint;
    std::string text;
    io::Fd out, err;  // They never make a writer wait.
    io::Fd messages;  // Another way to its standard error, which never does so either.
};
Result<ChildReport> receive_report(int socket);  // Unreachable: it says no more. Busy: not yet.

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
    ChildFile files[3];                           // Before those, by number of the stream.
    bool error_with_output = false;               // Standard error is what standard output is.
    int report = -1;                              // A socket of packets: see ChildReport.
    bool reports_messages = false;
    std::string greeting;  // Written to standard output first.
    int kept = -1;         // One more descriptor that it has, under the number that it has here.
    std::uint32_t umask = 0022;
    std::vector<ChildLimit> limits;
    model::IndexSet cpus;  // Empty: as inherited.
    // set_mempolicy(2): -1 leaves it; the domains are bits of the mask.
    int memory_policy = -1;
    std::uint64_t memory_domains = 0;
    bool terminal = false;  // Standard input is a terminal and becomes the controlling one.
    std::string preface;    // Written to standard error first, e.g. the report of a core binding.
    // Program and folder are the site's and not a user's: then we may wait until it has become its
    // program, and need not be copied for it.
    bool is_of_site = false;
};

// The paths a shell would try for `name`: itself if it has a slash (made absolute by `work_dir`),
// else its place in each folder of PATH in `environment`.
std::vector<std::string> program_candidates(const std::string& name,
                                            const std::vector<std::string>& environment,
                                            const std::string& work_dir);

// The child leads a session of its own, in its cgroup and on its cores, as soon as this returns; it
// is still on its way to being its program. It is to be waited for.
Result<pid_t> start_child(ChildPlan plan);

}  // namespace switchyard::os
