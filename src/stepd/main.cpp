// main.cpp: the stepd program. An agent starts it with a socket pair as descriptor 3 and the
// listening socket of the step as descriptor 4.
#include "stepd/main.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "io/loop.hpp"
#include "os/files.hpp"
#include "stepd/stepd.hpp"

namespace switchyard::stepd {
namespace {

constexpr int kAgentSocket = 3;
constexpr int kListener = 4;

bool is_socket(int fd) {
    struct stat facts{};
    return ::fstat(fd, &facts) == 0 && S_ISSOCK(facts.st_mode);
}

}  // namespace

int stepd_main(int, char**) {
    if (!is_socket(kAgentSocket)) {
        std::fputs("slurmstepd: error: only slurmd starts this program\n", stderr);
        return 1;
    }
    // Nothing but the end of its step ends a stepd; orphans of its tasks become its children.
    for (const int signal : {SIGHUP, SIGPIPE, SIGINT, SIGTERM, SIGQUIT}) ::signal(signal, SIG_IGN);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ::umask(022);
    // It holds no folder busy, and is not what dies when memory runs out (its tasks undo that).
    [[maybe_unused]] const int moved = ::chdir("/");
    if (::geteuid() == 0) (void)os::write_file("/proc/self/oom_score_adj", "-1000");
    for (const int fd : {kAgentSocket, kListener}) {
        ::fcntl(fd, F_SETFD, FD_CLOEXEC);
        ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
    }
    io::Loop loop;
    Stepd stepd(loop, io::Fd(kAgentSocket), io::Fd(is_socket(kListener) ? kListener : -1));
    loop.run();
    return 0;
}

}  // namespace switchyard::stepd
