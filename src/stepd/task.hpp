// task.hpp: one task of a step on this node; a batch script is the only one of its step.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/fd.hpp"
#include "io/loop.hpp"
#include "os/child.hpp"
#include "stepd/task_streams.hpp"

namespace switchyard::stepd {

struct Task {
    // Opening: it is a process, and has not said yet that its files are open.
    enum class Stage : std::uint8_t { Planned, Opening, Running, Exited };

    bool has_exited() const { return stage == Stage::Exited; }

    Stage stage = Stage::Planned;
    std::uint32_t global = 0;  // Its rank in the step.
    pid_t pid = 0;
    int status = 0;          // By wait(2).
    os::ChildPlan plan;      // Until it is a process, with
    TaskStreams::Ends ends;  // its ends of what was made for it.
    io::Fd report;           // What it says until it is its program.
    io::Loop::Watch report_watch;
    std::string start_error;
    std::unique_ptr<TaskStreams> streams;  // Of a step's task.
    std::vector<std::string> environment;  // Kept for its epilog, if there is one.
};

}  // namespace switchyard::stepd
