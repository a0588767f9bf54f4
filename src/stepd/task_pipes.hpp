// task_pipes.hpp: standard input, output and error of one task, where they go through srun.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "io/fd.hpp"
#include "io/loop.hpp"
#include "os/pty.hpp"

namespace switchyard::stepd {

class TaskPipes {
  public:
    // Empty data: the stream has ended.
    using Output = std::function<void(std::uint32_t stream, std::string_view data)>;
    TaskPipes(io::Loop& loop, Output output) : loop_(loop), output_(std::move(output)) {}

    // Makes a pipe and returns the task's end of it. Stream 0 is input, 1 and 2 are output and
    // error.
    Result<io::Fd> open(std::uint32_t stream);
    // All three are this terminal; the caller gives the slave to the task.
    void use_terminal(io::Fd master);
    void start();  // Once the task's ends are closed here.

    void write(std::string_view data);
    void close_input();
    std::size_t unwritten_bytes() const { return queue_.size(); }
    void on_written(std::function<void()> callback) { written_ = std::move(callback); }

    void pause(bool paused);
    // Takes what is there now, without waiting for more.
    void drain();
    // The processes are gone: what still is open will bring nothing.
    void end();
    int terminal() const { return is_terminal_ ? streams_[1].fd.get() : -1; }

  private:
    struct Stream {
        io::Fd fd;
        io::Loop::Watch watch;
        bool open = false;
    };
    bool read_some(std::uint32_t stream);  // False: nothing there for now, or ended.
    void finish(std::uint32_t stream);
    void flush_input();

    io::Loop& loop_;
    Output output_;
    Stream streams_[3];
    bool is_terminal_ = false, input_ends_ = false, paused_ = false;
    std::string queue_;  // For the task's standard input.
    std::function<void()> written_;
};

}  // namespace switchyard::stepd
