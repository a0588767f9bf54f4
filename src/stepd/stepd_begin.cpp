// stepd_begin.cpp: from a plan to a process, task after task. What a user has named is opened and
// run by processes of the step; the stepd hears of it, and heeds its orders meanwhile.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "os/files.hpp"
#include "stepd/stepd.hpp"

namespace switchyard::stepd {
namespace {

constexpr Millis kScriptTimeMax{60'000};

}  // namespace

Status Stepd::plan_task(std::uint32_t local) {
    Task& task = tasks_[local];
    SY_TRY(task.plan, setup::plan_task(*setup_, local));
    if (launch_.is_batch()) return {};
    task.global = launch_.here().tasks[local];
    task.streams = std::make_unique<TaskStreams>(
        loop_, launch_, local,
        [this, rank = task.global](std::uint32_t stream, std::string_view data) {
            on_output(rank, stream, data);
        });
    SY_TRY(task.ends, task.streams->plan(task.plan));
    return {};
}

void Stepd::begin_from(std::uint32_t local) {
    for (; local < tasks_.size(); ++local) {
        if (const Status planned = plan_task(local); !planned)
            return cannot_start(planned.error().message);
        if (run_prolog(local, 0)) return;  // It goes on from there.
        if (const Status started = start_task(local); !started)
            return cannot_start(started.error().message);
    }
    stage_ = Stage::Opening;
    tell_started();
    // A child that exited before this process listened for it.
    reap();
}

Status Stepd::run_script(const std::string& program, os::ChildPlan plan, TaskScript::Done done) {
    SY_TRY(plan.entrance, walls_->entrance(launch_.key));
    auto script = std::make_unique<TaskScript>(loop_, program, std::move(done));
    const Millis time = ending_ != Ending::No ? std::min<Millis>(launch_.kill_wait, kScriptTimeMax)
                                              : kScriptTimeMax;
    SY_CHECK(script->start(std::move(plan), time));
    scripts_.push_back(std::move(script));
    return {};
}

// TaskProlog of the site, then srun's own. Before anything else of the task exists. False: there is
// none left.
bool Stepd::run_prolog(std::uint32_t local, std::size_t which) {
    const std::vector<std::string> programs = setup::prologs(launch_);
    if (which == programs.size()) return false;
    os::ChildPlan& plan = tasks_[local].plan;
    os::ChildPlan script = plan;
    // What it has to say goes where the task's errors will go; what was there goes only once.
    os::ChildFile& errors = plan.error_with_output ? plan.files[1] : plan.files[2];
    script.files[2] = errors.handed_over ? os::ChildFile() : errors;
    errors.flags &= ~O_TRUNC;
    if (plan.error_with_output && script.files[2].path.empty()) script.std_err = plan.std_out;
    const Status started =
        run_script(programs[which], std::move(script),
                   [this, local, which](const Status& status, const std::string& printed) {
                       on_prolog(local, which, status, printed);
                   });
    if (!started) cannot_start(started.error().message);
    return true;
}

void Stepd::on_prolog(std::uint32_t local, std::size_t which, const Status& status,
                      const std::string& printed) {
    if (stage_ != Stage::Beginning) return;
    if (ending_ != Ending::No) return give_up_beginning();
    if (!status) return cannot_start(status.error().message);
    os::ChildPlan& plan = tasks_[local].plan;
    plan.greeting += apply_task_prolog(printed, plan.environment);
    if (run_prolog(local, which + 1)) return;
    if (const Status started = start_task(local); !started)
        return cannot_start(started.error().message);
    begin_from(local + 1);
}

Status Stepd::start_task(std::uint32_t local) {
    Task& task = tasks_[local];
    os::ChildPlan& plan = task.plan;
    if (!setup::epilogs(launch_).empty()) task.environment = plan.environment;
    pmi::Door door;
    if (setup_->pmi) {
        SY_TRY(door, setup_->pmi->open_door(local));
        plan.environment.insert(plan.environment.end(), door.environment.begin(),
                                door.environment.end());
        plan.kept = door.fd.get();
    }
    const bool opens =
        plan.reports_messages ||
        std::ranges::any_of(plan.files, [](const auto& file) { return !file.path.empty(); });
    // Of the folder they all say the same.
    SY_CHECK(start_process(task, opens || local == 0));
    task.stage = opens ? Task::Stage::Opening : Task::Stage::Running;
    usage_.sampler().add_task(task.global, task.pid);
    if (task.report) {
        task.report_watch = loop_.watch(task.report.get(), EPOLLIN,
                                        [this, local](std::uint32_t) { on_report(local); });
    }
    if (task.streams) task.streams->start();
    return {};
}

// From here on its ends of what was made for it are its own alone.
Status Stepd::start_process(Task& task, bool says_more) {
    const TaskStreams::Ends ends = std::move(task.ends);
    os::ChildPlan plan = std::move(task.plan);
    io::Fd theirs;
    if (says_more) {
        int pair[2];
        if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0)
            return os::errno_failure("socketpair");
        task.report.reset(pair[0]);
        theirs.reset(pair[1]);
        plan.report = theirs.get();
    }
    SY_TRY(plan.entrance, walls_->entrance(launch_.key));
    SY_TRY(task.pid, os::start_child(std::move(plan)));
    return {};
}

// Everything that it has said until now.
void Stepd::read_report(Task& task) {
    while (task.report) {
        auto report = os::receive_report(task.report.get());
        if (!report && report.error().code == Errc::Busy) return;
        if (!report) {
            task.report_watch = {};
            task.report.reset();
            if (task.stage == Task::Stage::Opening) task.stage = Task::Stage::Running;
            return;
        }
        take_report(task, *std::move(report));
    }
}

void Stepd::take_report(Task& task, os::ChildReport report) {
    using Kind = os::ChildReport::Kind;
    switch (report.kind) {
        case Kind::Complaint:
            if (!launch_.is_batch() && &task == tasks_.data()) say(report.text);
            return;
        case Kind::Failure:
            task.start_error = report.text;
            return;
        case Kind::Files:
            if (task.stage == Task::Stage::Opening) task.stage = Task::Stage::Running;
            if (task.streams) task.streams->take_files(report);
            if (report.messages) messages_ = std::move(report.messages);
            return;
    }
}

void Stepd::on_report(std::uint32_t local) {
    read_report(tasks_[local]);
    if (!has_tasks()) return;
    if (!tasks_[local].start_error.empty()) return cannot_start(tasks_[local].start_error);
    tell_started();
}

void Stepd::tell_started() {
    if (stage_ != Stage::Opening) return;
    const auto opens = [](const Task& task) { return task.stage == Task::Stage::Opening; };
    if (std::ranges::any_of(tasks_, opens)) return;
    stage_ = Stage::Running;
    if (clients_.srun()) tell_tasks(*clients_.srun());
}

void Stepd::cannot_start(const std::string& why) {
    if (stage_ != Stage::Preparing && !has_tasks()) return;
    // One that could not open its files has ended by itself, and never was a task.
    for (Task& task : tasks_) {
        if (!task.start_error.empty()) task.pid = 0;
    }
    if (clients_.srun()) clients_.srun()->failed_to_start(why);
    fail_launch(why);
}

// The step was ended while a prolog ran: what has not begun never will.
void Stepd::give_up_beginning() {
    for (Task& task : tasks_) {
        if (task.pid != 0) continue;
        task.ends = {};
        task.stage = Task::Stage::Exited;
        task.status = SIGKILL;
    }
    stage_ = Stage::Opening;
    reap();
}

// Of one task, srun's own first. The task is told of when they are over.
void Stepd::run_epilog(std::uint32_t local, std::size_t which) {
    const std::vector<std::string> programs = setup::epilogs(launch_);
    if (which == programs.size() || !has_tasks()) {
        report_exits({&tasks_[local]});
        return;
    }
    os::ChildPlan plan = setup::plan_script(*setup_);
    plan.environment = tasks_[local].environment;
    const auto complain = [this](const Status& status) {
        if (!status)
            log_.error(
                fmt::format("{}: {}", model::to_string(launch_.key), status.error().message));
    };
    const Status started =
        run_script(programs[which], std::move(plan),
                   [this, local, which, complain](const Status& status, const std::string&) {
                       complain(status);
                       run_epilog(local, which + 1);
                   });
    complain(started);
    if (!started) run_epilog(local, which + 1);
}

}  // namespace switchyard::stepd
