#include "os/programs.hpp"

#include <fmt/format.h>
#include <glob.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "os/child.hpp"
#include "os/spawn.hpp"

namespace switchyard::os {
namespace {

Status judge(const std::string& program, int status, bool timed_out) {
    if (timed_out) return fail(Errc::Timeout, program + ": timed out");
    return judge_exit(program, status);
}

}  // namespace

Status judge_exit(const std::string& program, int wait_status) {
    if (WIFSIGNALED(wait_status))
        return fail(Errc::Io,
                    fmt::format("{}: killed by signal {}", program, WTERMSIG(wait_status)));
    if (WEXITSTATUS(wait_status) != 0)
        return fail(Errc::Io, fmt::format("{}: exit code {}", program, WEXITSTATUS(wait_status)));
    return {};
}

std::vector<std::string> expand_programs(const std::vector<std::string>& patterns) {
    std::vector<std::string> programs;
    for (const std::string& pattern : patterns) {
        glob_t found{};
        const bool any_character = pattern.find_first_of("*?[") != std::string::npos;
        if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
            programs.insert(programs.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
        } else if (!any_character) {
            programs.push_back(pattern);
        }
        ::globfree(&found);
    }
    return programs;
}

Programs::Id Programs::add(Order order, Done done) {
    Run& run = runs_.emplace_back();
    run.id = ++last_;
    run.order = std::move(order);
    run.done = std::move(done);
    // Not from inside the caller, who is told when it is over.
    run.timer = loop_.after(Millis{0}, [this] { start_next(); });
    return run.id;
}

void Programs::stop(Id id) {
    const auto run = std::ranges::find(runs_, id, &Run::id);
    if (run == runs_.end()) return;
    if (run->pid == 0) {
        runs_.erase(run);
        return;
    }
    run->done = nullptr;
    ::kill(-run->pid, SIGKILL);
}

void Programs::stop_all() {
    for (Run& run : runs_) {
        run.done = nullptr;
        if (run.pid != 0) ::kill(-run.pid, SIGKILL);
    }
    std::erase_if(runs_, [](const Run& run) { return run.pid == 0; });
}

// All that wait to begin, as far as they may run side by side.
void Programs::start_next() {
    auto running = static_cast<std::size_t>(
        std::ranges::count_if(runs_, [](const Run& run) { return run.pid != 0; }));
    for (auto run = runs_.begin(); run != runs_.end() && running < at_once_max_;) {
        const auto at = run++;
        if (at->pid != 0) continue;
        if (at->order.programs.empty()) {
            finish(at, {});
            continue;
        }
        start(*at);
        if (at->pid == 0) {
            finish(at, fail(Errc::Io, at->order.programs.front() + ": cannot be started"));
        } else {
            ++running;
        }
    }
}

void Programs::start(Run& run) {
    ChildPlan plan;
    plan.argv = plan.programs = {run.order.programs.front()};
    plan.environment = run.order.environment;
    plan.who = {::geteuid(), ::getegid(), {}};
    plan.work_dir = "/";  // Not /tmp: what users put there is not for root's programs.
    plan.is_of_site = true;
    if (const auto pid = start_child(std::move(plan))) run.pid = *pid;
    run.timer = {};
    if (run.pid == 0) return;
    if (reaping_ == Reaping::ByItself) {
        if (auto process = open_pidfd(run.pid)) run.process = *std::move(process);
        run.watch = loop_.watch(run.process.get(), EPOLLIN, [this, pid = run.pid](std::uint32_t) {
            int status = 0;
            if (::waitpid(pid, &status, WNOHANG) == pid) on_exit(pid, status);
        });
    }
    if (run.order.timeout.count() == 0) return;
    run.timer = loop_.after(run.order.timeout, [&run] {
        run.timed_out = true;
        ::kill(-run.pid, SIGKILL);  // It leads a session of its own.
    });
}

bool Programs::owns(pid_t pid) const {
    return std::ranges::find(runs_, pid, &Run::pid) != runs_.end();
}

bool Programs::on_exit(pid_t pid, int status) {
    const auto run = std::ranges::find(runs_, pid, &Run::pid);
    if (pid <= 0 || run == runs_.end()) return false;
    run->pid = 0;
    run->timer = {};
    run->watch = {};
    run->process = {};
    const Status judged = judge(run->order.programs.front(), status, run->timed_out);
    run->order.programs.erase(run->order.programs.begin());
    const bool stopped = run->done == nullptr;
    if (stopped || !judged || run->order.programs.empty()) {
        finish(run, judged);
    } else {
        start(*run);
        if (run->pid == 0)
            finish(run, fail(Errc::Io, run->order.programs.front() + ": cannot be started"));
    }
    start_next();
    return true;
}

void Programs::finish(Runs::iterator at, const Status& status) {
    Runs ended;
    ended.splice(ended.begin(), runs_, at);
    if (ended.front().done) ended.front().done(status);
}

}  // namespace switchyard::os
