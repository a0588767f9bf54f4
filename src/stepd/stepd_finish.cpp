// stepd_finish.cpp: from the exit of the last task to the report that the step is over.
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <map>
#include <utility>

#include "os/files.hpp"
#include "os/machine.hpp"
#include "os/processes.hpp"
#include "stepd/stepd.hpp"
#include "wire/codec.hpp"
#include "wire/proto/node.pb.h"

namespace switchyard::stepd {
namespace {

constexpr Millis kEmptyWaitMax{50};
constexpr Millis kChildrenLook{200};
constexpr Millis kDeliverAfterKillMax{
    2000};  // How long a stopped srun may hold up the end of a killed step.

constexpr Millis kFoundLook{1000};

// What Slurm shows for a step that could not be started: "0:53".
constexpr model::ExitStatus kNeverRan{0, 53};

// A signal weighs more than any exit code.
bool is_worse(const model::ExitStatus& a, const model::ExitStatus& b) {
    if (a.signal != b.signal) return a.signal > b.signal;
    return a.code > b.code;
}

}  // namespace

// All children, those too that tasks left behind: they are ours since we are their subreaper.
void Stepd::reap() {
    std::vector<Task*> exited;
    std::vector<std::pair<std::unique_ptr<TaskScript>, int>> ended;
    siginfo_t dead{};
    while (::waitid(P_ALL, 0, &dead, WEXITED | WNOHANG | WNOWAIT) == 0 && dead.si_pid != 0) {
        const pid_t pid = std::exchange(dead.si_pid, 0);
        int status = 0;
        rusage used{};
        usage_.sampler().look_at_dead(pid);
        if (::wait4(pid, &status, WNOHANG, &used) != pid) break;
        usage_.sampler().ended(pid, used);
        const auto script = std::ranges::find(scripts_, pid, &TaskScript::pid);
        if (script != scripts_.end()) {
            ended.emplace_back(std::move(*script), status);
            scripts_.erase(script);
            continue;
        }
        const auto task = std::ranges::find(tasks_, pid, &Task::pid);
        if (task == tasks_.end()) continue;
        task->stage = Task::Stage::Exited;
        task->status = status;
        exited.push_back(&*task);
    }
    take_exits(exited);
    for (const auto& [script, status] : ended) script->ended(status);
    if (is_over() && !has_children_to_wait_for()) begin_to_empty();
    if (stage_ == Stage::Emptying) empty_out();
}

void Stepd::begin_to_empty() {
    stage_ = Stage::Emptying;
    time_limit_.end();
    usage_.end();
    kill_timer_ = {};
    memory_timer_ = {};
    freeze_timer_ = {};
}

void Stepd::take_exits(const std::vector<Task*>& exited) {
    for (Task* task : exited) {
        // Its last words may be that it never began.
        read_report(*task);
        if (!task->start_error.empty()) cannot_start(task->start_error);
    }
    if (setup::epilogs(launch_).empty() && !exited.empty()) return report_exits(exited);
    for (const Task* task : exited) run_epilog(static_cast<std::uint32_t>(task - tasks_.data()), 0);
}

// All tasks have been and gone, and so has what runs around them.
bool Stepd::is_over() const {
    const bool all_begun = stage_ == Stage::Opening || stage_ == Stage::Running;
    return all_begun && scripts_.empty() && std::ranges::all_of(tasks_, &Task::has_exited);
}

// --wait-for-children: what the tasks have started runs on; the step ends with the last of it.
bool Stepd::has_children_to_wait_for() {
    if (!launch_.command.wait_for_children || ending_ != Ending::No ||
        walls_->pids(launch_.key).empty())
        return false;
    empty_timer_ = loop_.after(kChildrenLook, [this] { reap(); });
    return true;
}

// Tasks that ended alike are told of together, after their last output.
void Stepd::report_exits(const std::vector<Task*>& exited) {
    if (launch_.is_batch()) return;
    std::map<int, std::vector<std::uint32_t>> by_status;
    for (Task* task : exited) {
        if (!task->start_error.empty()) continue;
        if (task->streams) task->streams->pipes().drain();
        by_status[task->status].push_back(task->global);
    }
    const bool oom =
        outcome_.out_of_memory || (walls_->limits_memory() && walls_->oom_kills(launch_.key) > 0);
    for (const auto& [status, ranks] : by_status)
        clients_.exited(ranks, status, oom && WIFSIGNALED(status));
}

// A script that was told to end is gone, but its sruns were told too, and wait for their steps to
// say how they ended. Everything else of the script is killed.
bool Stepd::spares_sruns(const std::vector<pid_t>& left) const {
    if (!spare_until_ || std::chrono::steady_clock::now() > *spare_until_) return false;
    bool any = false;
    for (const pid_t pid : left) {
        const auto process = os::read_process(pid);
        const bool is_srun = process && process->name == "srun";
        any = any || is_srun;
        if (process && !is_srun) ::kill(pid, SIGKILL);
    }
    return any;
}

// Kills what the tasks left behind, until nothing is left; then removes the walls.
void Stepd::empty_out() {
    const auto again = [this] {
        empty_timer_ = loop_.after(empty_wait_, [this] {
            if (stage_ == Stage::Emptying) empty_out();
        });
        empty_wait_ = std::min(empty_wait_ * 2, kEmptyWaitMax);
    };
    const std::vector<pid_t> left = walls_->pids(launch_.key);
    if (!left.empty()) {
        if (!spares_sruns(left)) walls_->kill_all(launch_.key);
        return again();
    }
    usage_.remember_processor_time();
    const std::uint64_t kills = walls_->limits_memory() ? walls_->oom_kills(launch_.key) : 0;
    const auto removed = walls_->remove(launch_.key);
    if (!removed) return again();
    outcome_.job_clean = *removed;
    if (kills > 0 || outcome_.out_of_memory) {
        outcome_.out_of_memory = true;
        const std::uint64_t count = std::max<std::uint64_t>(kills, 1);
        say(
            fmt::format("Detected {} oom_kill event{} in StepId={}. Some of the step tasks have "
                        "been OOM Killed.",
                        count, count == 1 ? "" : "s", model::to_string(launch_.key)));
    }
    setup::remove_script(*setup_);
    messages_.reset();
    deliver();
}

// The rest of the output reaches srun, and labelled files, before anybody hears that the step is
// over.
void Stepd::deliver() {
    stage_ = Stage::Delivering;
    for (Task& task : tasks_) {
        if (!task.streams) continue;
        task.streams->pipes().end();
        task.streams->on_written([this] { conclude_if_delivered(); });
    }
    // Whoever does not read has until the end of the job's time, or as long as a task to end.
    const auto deadline = time_limit_.deadline();
    if (ending_ != Ending::No) {
        limit_delivery(ending_ == Ending::Killed ? kDeliverAfterKillMax
                                                 : Millis{launch_.kill_wait});
    } else if (deadline) {
        deliver_timer_ =
            loop_.at(std::max(*deadline, os::now() + kDeliverAfterKillMax), [this] { conclude(); });
    }
    clients_.finish([this] { conclude_if_delivered(); });
}

// Orders to end are repeated: the earliest counts.
void Stepd::limit_delivery(Millis patience) {
    const auto by = std::chrono::steady_clock::now() + patience;
    if (deliver_by_ && *deliver_by_ <= by) return;
    deliver_by_ = by;
    deliver_timer_ = loop_.after(patience, [this] { conclude(); });
}

void Stepd::conclude_if_delivered() {
    const bool written = std::ranges::all_of(
        tasks_, [](const Task& task) { return !task.streams || task.streams->is_written(); });
    if (stage_ == Stage::Delivering && clients_.srun_has_all() && written) conclude();
}

void Stepd::conclude() {
    if (stage_ == Stage::Over) return;
    stage_ = Stage::Over;
    deliver_timer_ = {};
    for (const Task& task : tasks_) {
        if (task.streams) task.streams->close_files();
    }
    send_status();
    wait_to_be_known();
}

// For ever, as long as an agent could come and ask. A cluster whose folders were removed has none.
void Stepd::wait_to_be_known() {
    known_timer_ = loop_.after(kFoundLook, [this] {
        if (!agent_.connected() && !agent_.can_be_found()) return loop_.stop();
        wait_to_be_known();
    });
}

void Stepd::send_status() {
    wire::StepdToAgent message;
    wire::StepStatus& status = *message.mutable_status();
    wire::encode_key(launch_.key, status.mutable_key());
    status.set_pid(static_cast<std::uint32_t>(::getpid()));
    status.set_ending(ending_ != Ending::No);
    for (const model::GresGrant& gres : launch_.job_grant.gres)
        wire::encode(gres, status.add_job_gres());
    if (stage_ == Stage::Over) {
        model::ExitStatus worst;
        for (const Task& task : tasks_) {
            const model::ExitStatus exit = model::ExitStatus::from_wait(task.status);
            if (is_worse(exit, worst)) worst = exit;
        }
        if (!outcome_.launch_error.empty()) worst = kNeverRan;
        wire::StepReport& report = *status.mutable_report();
        wire::encode_key(launch_.key, report.mutable_key());
        report.mutable_exit()->set_code(worst.code);
        report.mutable_exit()->set_signal(worst.signal);
        report.set_timed_out(outcome_.timed_out);
        report.set_out_of_memory(outcome_.out_of_memory);
        report.set_launch_error(outcome_.launch_error);
        report.set_job_clean(outcome_.job_clean);
        wire::encode(usage_.usage(launch_.node), report.mutable_usage());
    } else if (has_tasks()) {
        wire::encode(usage_.usage(launch_.node), status.mutable_usage());
    }
    agent_.send(message);
}

}  // namespace switchyard::stepd
