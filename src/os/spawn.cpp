// spawn.cpp: posix_spawn, which shares memory with the child until it has called exec: nothing of a
// big parent is copied.
#include "os/spawn.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "os/files.hpp"

namespace switchyard::os {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> out;
    out.reserve(texts.size() + 1);
    for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
    out.push_back(nullptr);
    return out;
}

}  // namespace

Result<pid_t> spawn(const SpawnRequest& request) {
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    int next = 3;
    for (const auto& [ours, theirs] : request.descriptors) next = std::max(next, theirs + 1);
    std::vector<io::Fd> moved;  // Those of ours that stand where one of theirs is to be placed.
    for (const auto& [ours, theirs] : request.descriptors) {
        int from = ours;
        if (ours < next) {
            moved.emplace_back(::fcntl(ours, F_DUPFD_CLOEXEC, next));
            from = moved.back().get();
        }
        ::posix_spawn_file_actions_adddup2(&actions, from, theirs);
    }
    ::posix_spawn_file_actions_addclosefrom_np(&actions, next);

    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    if (request.new_session) flags |= POSIX_SPAWN_SETSID;
    ::posix_spawnattr_setflags(&attributes, static_cast<short>(flags));

    const std::vector<char*> argv = pointers(request.argv);
    const std::vector<char*> environment = pointers(request.environment);
    pid_t pid = 0;
    const int error = ::posix_spawn(&pid, request.path.c_str(), &actions, &attributes, argv.data(),
                                    environment.data());
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        errno = error;
        return errno_failure(request.path);
    }
    return pid;
}

std::string own_executable() { return "/proc/self/exe"; }

Result<io::Fd> open_pidfd(pid_t pid) {
    const long fd = ::syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0) return errno_failure("process " + std::to_string(pid));
    return io::Fd(static_cast<int>(fd));
}

void signal_pidfd(const io::Fd& process, int signal) {
    if (process) ::syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0);
}

}  // namespace switchyard::os
