#include "stepd/task_streams.hpp"

#include <fcntl.h>

#include <utility>

#include "stepd/output_files.hpp"

namespace switchyard::stepd {
namespace {

constexpr std::size_t kUnwrittenBytesMax = 4u << 20;  // Then a task's output waits in its pipe.

}  // namespace

TaskStreams::TaskStreams(io::Loop& loop, const Launch& launch, std::uint32_t local, Output output)
    : loop_(loop),
      launch_(launch),
      local_(local),
      global_(launch.here().tasks[local]),
      output_(std::move(output)),
      pipes_(loop, [this](std::uint32_t stream, std::string_view data) { take(stream, data); }) {}

bool TaskStreams::takes_input() const {
    const Command& command = launch_.command;
    if (command.stdin_task) return global_ == *command.stdin_task;
    return command.stdin_to_all || global_ == 0;
}

Result<TaskStreams::Ends> TaskStreams::plan(os::ChildPlan& plan) {
    const Command& command = launch_.command;
    Ends ends;
    if (command.pty && global_ == 0) {
        const os::ActingAs user(launch_.who);
        SY_TRY(os::Pty pty, os::open_pty(command.pty_rows, command.pty_cols));
        pipes_.use_terminal(std::move(pty.master));
        plan.terminal = true;
        ends.in.reset(::fcntl(pty.slave.get(), F_DUPFD_CLOEXEC, 3));
        ends.out = std::move(pty.slave);
        plan.std_in = ends.in.get();
        plan.std_out = plan.std_err = ends.out.get();
        return ends;
    }
    SY_TRY(ends.in, plan_stream(0, plan));
    SY_TRY(ends.out, plan_stream(1, plan));
    // "-e" with the name of "-o", or "-o" alone with a file: both go to one place.
    plan.error_with_output = !command.label && !command.std_out.empty() &&
                             (command.std_err.empty() || command.std_err == command.std_out);
    if (!plan.error_with_output) {
        SY_TRY(ends.err, plan_stream(2, plan));
    }
    plan.std_in = ends.in.get();
    plan.std_out = ends.out.get();
    plan.std_err = ends.err.get();
    return ends;
}

// A file where a pattern was given; else a pipe to srun. Input that is not for this task is empty.
Result<io::Fd> TaskStreams::plan_stream(std::uint32_t stream, os::ChildPlan& plan) {
    const Command& command = launch_.command;
    os::ChildFile& file = plan.files[stream];
    const bool with_out = stream == 2 && command.std_err.empty();
    const std::string& pattern = stream == 0               ? command.std_in
                                 : stream == 1 || with_out ? command.std_out
                                                           : command.std_err;
    const model::PatternFacts facts = pattern_facts(launch_, global_);
    if (stream == 0) {
        if (pattern.empty() && takes_input()) return pipes_.open(0);
        if (!pattern.empty()) file = input_file(pattern, facts);
        return io::Fd();
    }
    if (pattern.empty()) return pipes_.open(stream);
    // The second stream of a task in one file goes on where the first has begun it.
    const Opening opening = stream == 2 && pattern == command.std_out
                                ? Opening::Append
                                : opening_of(launch_, pattern, local_);
    file = output_file(launch_, pattern, facts, opening);
    if (!command.label) return io::Fd();
    file.handed_over = true;
    const std::uint32_t count = launch_.het ? launch_.het->tasks : launch_.layout.task_count();
    (stream == 1 ? out_file_ : err_file_) = std::make_unique<LabelledFile>(loop_, count);
    return pipes_.open(stream);
}

void TaskStreams::start() { pipes_.start(); }

void TaskStreams::take_files(os::ChildReport& report) {
    if (report.out && out_file_) out_file_->open(std::move(report.out));
    if (report.err && err_file_) err_file_->open(std::move(report.err));
}

void TaskStreams::take(std::uint32_t stream, std::string_view data) {
    LabelledFile* file = stream == 1 ? out_file_.get() : err_file_.get();
    if (file == nullptr) return output_(stream, data);
    file->take(global_ + (launch_.het ? launch_.het->task_offset : 0), data);
    if (file->unwritten_bytes() <= kUnwrittenBytesMax) return;
    pipes_.pause(true);
    file->on_written([this] { pipes_.pause(false); });
}

void TaskStreams::on_written(std::function<void()> callback) {
    for (LabelledFile* file : {out_file_.get(), err_file_.get()}) {
        if (file != nullptr) file->on_written(callback);
    }
}

bool TaskStreams::is_written() const {
    return (!out_file_ || out_file_->is_done()) && (!err_file_ || err_file_->is_done());
}

void TaskStreams::close_files() {
    for (LabelledFile* file : {out_file_.get(), err_file_.get()}) {
        if (file != nullptr) file->close();
    }
}

}  // namespace switchyard::stepd
