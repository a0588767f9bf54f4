// task_table.hpp: what became of each task of a step, in the words and numbers that srun ends with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/index_set.hpp"

namespace switchyard::cli {

// How one or several tasks of a node ended.
struct TaskExit {
    std::string node;
    model::IndexSet tasks;
    int wait_status = 0;
    bool out_of_memory = false;
};

bool is_abnormal(const TaskExit& exit);
// "n1: tasks 0-3: Exited with exit code 3", "n1: task 0: Killed", "n1: task 0: Completed".
std::string describe(const TaskExit& exit);
// The code, 128 and the signal, or 253 for want of memory.
int exit_code_of(const TaskExit& exit);

class TaskTable {
  public:
    explicit TaskTable(std::uint32_t task_count);

    void start(const model::IndexSet& tasks);
    void end(const TaskExit& exit);

    bool all_ended() const { return exited_.size() + abnormal_.size() == count_; }
    bool any_ended() const { return !exited_.empty() || !abnormal_.empty(); }
    // The highest of all tasks.
    int exit_code() const { return exit_code_; }
    // SIGTERM or SIGKILL ended a task: somebody wanted the step gone.
    bool was_killed() const { return was_killed_; }
    // "task 0: running", "tasks 1-3: exited abnormally": a line per state, for Ctrl-C.
    std::vector<std::string> state_lines() const;

  private:
    std::uint32_t count_;
    model::IndexSet unknown_, running_, exited_, abnormal_;
    int exit_code_ = 0;
    bool was_killed_ = false;
};

// "task 3" or "tasks 0-3,7".
std::string name_tasks(const model::IndexSet& tasks);

// Gathers the exits of one moment, so that those alike are told in one line.
class ExitGatherer {
  public:
    void add(const TaskExit& exit);
    bool empty() const { return gathered_.empty(); }
    // What was gathered, by node; nothing is left.
    std::vector<TaskExit> take();

  private:
    std::vector<TaskExit> gathered_;
};

}  // namespace switchyard::cli
