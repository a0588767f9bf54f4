#include "cli/step_io/task_table.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <utility>

#include "model/hostlist.hpp"
#include "model/signals.hpp"

namespace switchyard::cli {
namespace {

constexpr int kOutOfMemoryCode = 253;

}  // namespace

std::string name_tasks(const model::IndexSet& tasks) {
    return fmt::format("{} {}", tasks.size() == 1 ? "task" : "tasks", model::to_string(tasks));
}

bool is_abnormal(const TaskExit& exit) { return exit.wait_status != 0 || exit.out_of_memory; }

int exit_code_of(const TaskExit& exit) {
    if (exit.out_of_memory) return kOutOfMemoryCode;
    if (WIFSIGNALED(exit.wait_status)) return 128 + WTERMSIG(exit.wait_status);
    return WEXITSTATUS(exit.wait_status);
}

std::string describe(const TaskExit& exit) {
    std::string what;
    if (exit.out_of_memory) {
        what = "Out Of Memory";
    } else if (WIFSIGNALED(exit.wait_status)) {
        what = model::signal_description(WTERMSIG(exit.wait_status));
        if (WCOREDUMP(exit.wait_status)) what += " (core dumped)";
    } else if (WEXITSTATUS(exit.wait_status) != 0) {
        what = fmt::format("Exited with exit code {}", WEXITSTATUS(exit.wait_status));
    } else {
        what = "Completed";
    }
    return fmt::format("{}: {}: {}", exit.node, name_tasks(exit.tasks), what);
}

TaskTable::TaskTable(std::uint32_t task_count) : count_(task_count) {
    if (task_count > 0) unknown_ = model::IndexSet::range(0, task_count - 1);
}

void TaskTable::start(const model::IndexSet& tasks) {
    // A task may be known to have ended before its start is told.
    model::IndexSet starting = tasks.intersection(unknown_);
    unknown_.erase(starting);
    running_.insert(starting);
}

void TaskTable::end(const TaskExit& exit) {
    model::IndexSet ending = exit.tasks;
    ending.erase(exited_);
    ending.erase(abnormal_);
    unknown_.erase(ending);
    running_.erase(ending);
    (is_abnormal(exit) ? abnormal_ : exited_).insert(ending);
    exit_code_ = std::max(exit_code_, exit_code_of(exit));
    if (WIFSIGNALED(exit.wait_status)) {
        const int signal = WTERMSIG(exit.wait_status);
        was_killed_ |= signal == SIGTERM || signal == SIGKILL;
    }
}

std::vector<std::string> TaskTable::state_lines() const {
    std::vector<std::string> lines;
    const auto add = [&lines](const model::IndexSet& tasks, std::string_view state) {
        if (!tasks.empty()) lines.push_back(fmt::format("{}: {}", name_tasks(tasks), state));
    };
    add(running_, "running");
    add(exited_, "exited");
    add(abnormal_, "exited abnormally");
    add(unknown_, "unknown");
    return lines;
}

void ExitGatherer::add(const TaskExit& exit) {
    for (TaskExit& like : gathered_) {
        if (like.node == exit.node && like.wait_status == exit.wait_status &&
            like.out_of_memory == exit.out_of_memory) {
            like.tasks.insert(exit.tasks);
            return;
        }
    }
    gathered_.push_back(exit);
}

std::vector<TaskExit> ExitGatherer::take() {
    std::vector<TaskExit> taken = std::exchange(gathered_, {});
    std::ranges::sort(taken, [](const TaskExit& a, const TaskExit& b) {
        if (a.node != b.node) return model::hostname_less(a.node, b.node);
        return a.tasks.front() < b.tasks.front();
    });
    return taken;
}

}  // namespace switchyard::cli
