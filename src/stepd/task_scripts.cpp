#include "stepd/task_scripts.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "base/text.hpp"
#include "base/time.hpp"
#include "io/fd.hpp"
#include "os/files.hpp"
#include "stepd/environment.hpp"

namespace switchyard::stepd {
namespace {

constexpr Millis kScriptTimeMax{60'000};
constexpr std::size_t kPrintedBytesMax = 1u << 20;

Millis left_until(std::chrono::steady_clock::time_point end) {
    return std::chrono::duration_cast<Millis>(end - std::chrono::steady_clock::now());
}

// Until it closes its output, prints too much, or the time is over.
std::string read_all(int fd, std::chrono::steady_clock::time_point end) {
    std::string text;
    while (text.size() < kPrintedBytesMax) {
        pollfd wait{fd, POLLIN, 0};
        const Millis left = left_until(end);
        if (left.count() <= 0 || ::poll(&wait, 1, static_cast<int>(left.count())) <= 0) break;
        char piece[4096];
        const ssize_t got = ::read(fd, piece, sizeof piece);
        if (got <= 0) break;
        text.append(piece, static_cast<std::size_t>(got));
    }
    return text;
}

}  // namespace

Result<std::string> run_task_script(const std::string& program, os::ChildPlan plan) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return os::errno_failure("pipe");
    const io::Fd ours(ends[0]);
    io::Fd theirs(ends[1]);
    plan.argv = {program};
    plan.programs = {program};
    plan.std_in = -1;
    plan.std_out = theirs.get();
    plan.terminal = false;
    SY_TRY(const pid_t pid, os::start_child(std::move(plan)));
    theirs.reset();
    const auto end = std::chrono::steady_clock::now() + kScriptTimeMax;
    std::string text = read_all(ours.get(), end);
    // Whoever has closed its output is about to exit; whoever has not is out of time.
    if (left_until(end).count() <= 0) ::kill(-pid, SIGKILL);
    int status = 0;
    if (::waitpid(pid, &status, 0) != pid) return os::errno_failure(program);
    if (status != 0) return fail(Errc::Io, fmt::format("{} failed status={}", program, status));
    return text;
}

std::string apply_task_prolog(std::string_view printed, std::vector<std::string>& environment) {
    Environment env(std::move(environment));
    std::string shown;
    for (const std::string_view line : split(printed, '\n')) {
        const std::string_view rest = line.substr(std::min(line.find(' '), line.size()));
        const std::string_view value = rest.empty() ? rest : rest.substr(1);
        if (line.starts_with("export ") && value.contains('=')) {
            env.set(trim(value.substr(0, value.find('='))), value.substr(value.find('=') + 1));
        } else if (line.starts_with("unset ")) {
            env.unset(trim(value));
        } else if (line.starts_with("print ")) {
            shown += fmt::format("{}\n", value);
        }
    }
    environment = env.take();
    return shown;
}

}  // namespace switchyard::stepd
