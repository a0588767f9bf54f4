#include "stepd/task_scripts.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/text.hpp"
#include "os/files.hpp"
#include "stepd/environment.hpp"

namespace switchyard::stepd {
namespace {

constexpr std::size_t kPrintedBytesMax = 1u << 20;  // What it prints beyond is not looked at.

}  // namespace

Status TaskScript::start(os::ChildPlan plan, Millis time_max) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return os::errno_failure("pipe");
    output_.reset(ends[0]);
    const io::Fd theirs(ends[1]);
    ::fcntl(output_.get(), F_SETFL, O_NONBLOCK);
    plan.argv = {program_};
    plan.programs = {program_};
    plan.std_in = -1;
    plan.std_out = theirs.get();
    plan.files[0] = plan.files[1] = {};
    plan.error_with_output = false;
    plan.report = -1;
    plan.reports_messages = false;
    plan.terminal = false;
    plan.kept = -1;
    plan.preface = plan.greeting = {};
    SY_TRY(pid_, os::start_child(std::move(plan)));
    watch_ = loop_.watch(output_.get(), EPOLLIN, [this](std::uint32_t) { read_some(); });
    timer_ = loop_.after(time_max, [this] {
        timed_out_ = true;
        ::kill(-pid_, SIGKILL);  // It leads a session of its own.
    });
    return {};
}

bool TaskScript::read_some() {
    char piece[4096];
    const ssize_t got = ::read(output_.get(), piece, sizeof piece);
    if (got <= 0) {
        if (got == 0) watch_ = {};
        return false;
    }
    if (printed_.size() < kPrintedBytesMax) printed_.append(piece, static_cast<std::size_t>(got));
    return true;
}

void TaskScript::ended(int status) {
    for (std::size_t i = 0; i * 4096 < kPrintedBytesMax && read_some(); ++i) {
    }
    watch_ = {};
    timer_ = {};
    Status judged;
    if (timed_out_) {
        judged = fail(Errc::Timeout, program_ + ": timed out");
    } else if (status != 0) {
        judged = fail(Errc::Io, fmt::format("{} failed status={}", program_, status));
    }
    const Done done = std::move(done_);
    const std::string printed = std::move(printed_);
    done(judged, printed);
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
