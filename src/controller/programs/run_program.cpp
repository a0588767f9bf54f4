#include "controller/programs/run_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/text.hpp"
#include "controller/programs/user_programs.hpp"
#include "os/files.hpp"
#include "os/users.hpp"

namespace switchyard::controller {
namespace {

constexpr int kCannotRun = 127;  // As a shell says it.
constexpr rlim_t kOpenFiles = 1024;

int give_up(std::string_view what) {
    const std::string why = fmt::format("{}: {}", what, std::strerror(errno));
    [[maybe_unused]] const ssize_t sent = ::write(kRunProgramReport, why.data(), why.size());
    return kCannotRun;
}

// What the controller has for itself and no user should inherit.
void leave_privileges_behind() {
    ::umask(022);
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur > kOpenFiles) {
        files.rlim_cur = kOpenFiles;
        ::setrlimit(RLIMIT_NOFILE, &files);
    }
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    if (::getpriority(PRIO_PROCESS, 0) < 0) ::setpriority(PRIO_PROCESS, 0, 0);
    // A controller may be spared when memory runs out; whoever it starts is not.
    (void)os::write_file("/proc/self/oom_score_adj", "0");
}

bool become(uid_t uid, gid_t gid) {
    if (::geteuid() != 0) {
        errno = EPERM;
        return ::geteuid() == uid;
    }
    os::Identity who{uid, gid, {}};
    if (const auto user = os::find_user(uid)) who.groups = os::groups_of(user->name, gid);
    return os::become(who);
}

}  // namespace

std::vector<std::string> run_program_arguments(const ProgramOrder& order) {
    std::vector<std::string> arguments{std::string(kRunProgramName), std::to_string(order.uid),
                                       std::to_string(order.gid)};
    arguments.insert(arguments.end(), order.argv.begin(), order.argv.end());
    return arguments;
}

int run_program_main(int argc, char** argv) {
    constexpr int kProgram = 3;
    const auto uid = argc > kProgram ? parse_uint(argv[1]) : std::nullopt;
    const auto gid = argc > kProgram ? parse_uint(argv[2]) : std::nullopt;
    // The last of each means nobody to the system calls, and would leave us who we are.
    if (!uid || !gid || *uid >= UINT32_MAX || *gid >= UINT32_MAX) return kCannotRun;
    ::fcntl(kRunProgramReport, F_SETFD, FD_CLOEXEC);
    leave_privileges_behind();
    if (!become(static_cast<uid_t>(*uid), static_cast<gid_t>(*gid)))
        return give_up(fmt::format("cannot become uid {}", *uid));
    if (::chdir("/") != 0) return give_up("/");
    ::execve(argv[kProgram], argv + kProgram, ::environ);
    return give_up(argv[kProgram]);
}

}  // namespace switchyard::controller
