// spawn.hpp: starting another program quickly, whatever the size of this process.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "io/fd.hpp"

namespace switchyard::os {

struct SpawnRequest {
    std::string path;
    std::vector<std::string> argv;
    std::vector<std::string> environment;
    std::vector<std::pair<int, int>>
        descriptors;  // Ours, and what it is there; all others but 0-2 close.
    bool new_session = true;
};

// The child has default signal handling and an empty signal mask. It is a child of this process and
// must be waited for.
Result<pid_t> spawn(const SpawnRequest& request);

// Path of the running executable, also after the file was replaced by an upgrade.
std::string own_executable();

// A descriptor that becomes readable when the process ends. NotFound: no such process.
Result<io::Fd> open_pidfd(pid_t pid);
// Whoever has waited for that process may have done so already: then nobody gets it.
void signal_pidfd(const io::Fd& process, int signal);

}  // namespace switchyard::os
