// main.cpp: the stepd program: one step after another, each with all that belongs to it made anew.
#include "stepd/main.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "io/loop.hpp"
#include "os/containment.hpp"
#include "os/descriptors.hpp"
#include "os/files.hpp"
#include "stepd/stepd.hpp"

namespace switchyard::stepd {
namespace {

constexpr int kStepsMax = 1000;  // Then a fresh process takes over: nothing can pile up.

bool is_socket(int fd) {
    struct stat facts{};
    return ::fstat(fd, &facts) == 0 && S_ISSOCK(facts.st_mode);
}

// The second word of the command line, as the process table shows it. The agent left room there.
class Title {
  public:
    Title(int argc, char** argv) {
        if (argc > 1) room_ = {argv[1], std::strlen(argv[1])};
    }
    void set(std::string_view text) {
        std::ranges::fill(room_, ' ');
        std::ranges::copy(text.substr(0, room_.size()), room_.begin());
    }

  private:
    std::span<char> room_;
};

// One of those we were started with: exec undid how it was made.
io::Fd inherited(int fd) {
    if (!is_socket(fd)) return {};
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
    return io::Fd(fd);
}

// Whether this process can serve another step. Nothing of a step may be left with the loop: no
// post(), only timers and watches, which end with their owner.
bool run_step(io::Loop& loop, io::Fd agent, io::Fd listener, os::ContainmentPlan& walls) {
    Stepd stepd(loop, std::move(agent), std::move(listener));
    loop.run();
    walls = stepd.take_walls();
    return stepd.leaves_no_trace();
}

// Tells the agent that we are free and waits for what it gives us; none when it is gone.
std::optional<os::Packet> next_step() {
    if (!os::send_packet(kLeash, "ready")) return std::nullopt;
    auto packet = os::receive_packet(kLeash);
    if (!packet || packet->descriptors.size() != 2) return std::nullopt;
    return *std::move(packet);
}

void settle() {
    // Nothing but the end of its step ends a stepd; orphans of its tasks become its children.
    for (const int signal : {SIGHUP, SIGPIPE, SIGINT, SIGTERM, SIGQUIT}) ::signal(signal, SIG_IGN);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ::prctl(PR_SET_NAME, "slurmstepd");
    ::umask(022);
    // It holds no folder busy, and is not what dies when memory runs out (its tasks undo that).
    [[maybe_unused]] const int moved = ::chdir("/");
    if (::geteuid() == 0) (void)os::write_file("/proc/self/oom_score_adj", "-1000");
    // Every large request would first sweep up the small free pieces that the last message left.
    ::mallopt(M_MXFAST, 0);
}

}  // namespace

int stepd_main(int argc, char** argv) {
    const bool leashed = is_socket(kLeash);
    if (!is_socket(kAgentSocket) && !leashed) {
        std::fputs("slurmstepd: error: only slurmd starts this program\n", stderr);
        return 1;
    }
    settle();
    if (leashed) ::fcntl(kLeash, F_SETFD, FD_CLOEXEC);
    Title title(argc, argv);
    io::Loop loop;
    bool goes_on = true;
    os::ContainmentPlan walls;  // Of the last step.
    if (is_socket(kAgentSocket)) {
        goes_on = run_step(loop, inherited(kAgentSocket), inherited(kListener), walls);
    }
    for (int steps = 1; leashed && goes_on && steps < kStepsMax; ++steps) {
        title.set("idle");
        auto packet = next_step();
        if (!packet) break;
        title.set(packet->text);
        goes_on = run_step(loop, std::move(packet->descriptors[0]),
                           std::move(packet->descriptors[1]), walls);
    }
    os::drop_spare_walls(walls);
    return 0;
}

}  // namespace switchyard::stepd
