// task_streams.hpp: where standard input, output and error of one task go: through pipes or a
// terminal to srun, or to files of the node, by way of us if their lines are labelled.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "base/result.hpp"
#include "io/fd.hpp"
#include "io/loop.hpp"
#include "os/child.hpp"
#include "stepd/labelled_file.hpp"
#include "stepd/launch.hpp"
#include "stepd/task_pipes.hpp"

namespace switchyard::stepd {

class TaskStreams {
  public:
    // What does not go to a file. Empty data: the stream has ended.
    using Output = TaskPipes::Output;
    // `local`: which of this node's tasks.
    TaskStreams(io::Loop& loop, const Launch& launch, std::uint32_t local, Output output);

    // The task's ends, open until it is a process.
    struct Ends {
        io::Fd in, out, err;
    };
    Result<Ends> plan(os::ChildPlan& plan);
    void start();  // Once the task's ends are closed here.
    void take_files(os::ChildReport& report);

    bool takes_input() const;
    TaskPipes& pipes() { return pipes_; }
    // Until all is in the files, or nobody will ever read it; then no more is written.
    void on_written(std::function<void()> callback);
    bool is_written() const;
    void close_files();

  private:
    Result<io::Fd> plan_stream(std::uint32_t stream, os::ChildPlan& plan);
    void take(std::uint32_t stream, std::string_view data);

    io::Loop& loop_;
    const Launch& launch_;
    std::uint32_t local_, global_;
    Output output_;
    TaskPipes pipes_;
    std::unique_ptr<LabelledFile> out_file_, err_file_;  // Of --label.
};

}  // namespace switchyard::stepd
