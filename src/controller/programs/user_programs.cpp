#include "controller/programs/user_programs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "controller/programs/run_program.hpp"
#include "os/files.hpp"
#include "os/programs.hpp"
#include "os/spawn.hpp"

namespace switchyard::controller {
namespace {

constexpr Millis kTimeToDie{5000};
constexpr std::size_t kReportBytesMax = 512;

// Why it never became the program; empty if it did. Whoever wrote it has ended.
std::string read_report(int fd) {
    char text[kReportBytesMax];
    const ssize_t got = ::read(fd, text, sizeof text);
    return got > 0 ? std::string(text, static_cast<std::size_t>(got)) : std::string();
}

}  // namespace

std::uint32_t uid_to_run_as(std::uint32_t uid) { return ::geteuid() == 0 ? uid : ::geteuid(); }

bool UserPrograms::may_start(std::uint32_t uid) const {
    std::size_t all = 0, of_user = 0;
    for (const auto& [pid, entry] : running_) {
        if (!entry.stuck) ++all;
        if (entry.order.uid == uid) ++of_user;
    }
    return all < limits_.at_once_max && of_user < limits_.at_once_per_user_max;
}

Status UserPrograms::run(ProgramOrder order) {
    const auto of_user = static_cast<std::size_t>(
        std::ranges::count(queue_, order.uid, [](const ProgramOrder& o) { return o.uid; }));
    if (of_user >= limits_.waiting_per_user_max)
        return fail(Errc::Busy,
                    fmt::format("{} programs for uid={} wait already", of_user, order.uid));
    if (queue_.size() >= limits_.waiting_max)
        return fail(Errc::Busy, fmt::format("{} programs wait already", queue_.size()));
    queue_.push_back(std::move(order));
    start_waiting();
    return {};
}

void UserPrograms::start_waiting() {
    for (auto next = queue_.begin(); next != queue_.end();) {
        if (!may_start(next->uid)) {
            ++next;
            continue;
        }
        const ProgramOrder order = std::move(*next);
        next = queue_.erase(next);
        if (const Status started = start(order); !started) ended_(order, started);
    }
}

Status UserPrograms::start(const ProgramOrder& order) {
    const io::Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!nothing) return os::errno_failure("/dev/null");
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return os::errno_failure("pipe");
    io::Fd report(ends[0]);
    const io::Fd to_report(ends[1]);
    const int null = nothing.get();
    SY_TRY(const pid_t pid, os::spawn({.path = os::own_executable(),
                                       .argv = run_program_arguments(order),
                                       .environment = order.environment,
                                       .descriptors = {{null, STDIN_FILENO},
                                                       {null, STDOUT_FILENO},
                                                       {null, STDERR_FILENO},
                                                       {to_report.get(), kRunProgramReport}}}));
    auto process = os::open_pidfd(pid);
    if (!process) {
        ::kill(pid, SIGKILL);  // Nobody would hear of its end.
        ::waitpid(pid, nullptr, 0);
        return Failure{process.error()};
    }
    Running& entry = running_[pid];
    entry.order = order;
    entry.process = *std::move(process);
    entry.report = std::move(report);
    entry.watch =
        loop_.watch(entry.process.get(), EPOLLIN, [this, pid](std::uint32_t) { on_exit(pid); });
    entry.timer = loop_.after(limits_.run_time_max, [this, pid] { on_too_long(pid); });
    return {};
}

void UserPrograms::on_too_long(pid_t pid) {
    ::kill(-pid, SIGKILL);  // It leads a session of its own.
    Running& entry = running_.at(pid);
    if (entry.timed_out) {
        entry.stuck = true;
        return start_waiting();
    }
    entry.timed_out = true;
    entry.timer = loop_.after(kTimeToDie, [this, pid] { on_too_long(pid); });
}

void UserPrograms::on_exit(pid_t pid) {
    int status = 0;
    if (::waitpid(pid, &status, WNOHANG) == 0) return;
    const auto found = running_.extract(pid);
    const Running& entry = found.mapped();
    const std::string why = read_report(entry.report.get());
    const std::string& program = entry.order.argv.front();
    if (entry.timed_out) {
        ended_(entry.order,
               fail(Errc::Timeout, fmt::format("{}: took longer than {} s and was killed", program,
                                               limits_.run_time_max.count())));
    } else {
        ended_(entry.order,
               why.empty() ? os::judge_exit(program, status) : fail(Errc::NotFound, why));
    }
    start_waiting();
}

}  // namespace switchyard::controller
