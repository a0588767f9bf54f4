// input_reader.hpp: reads srun's standard input (or the file of -i) and hands it on in pieces, no
// faster than the nodes take it.
#pragma once

#include <functional>
#include <string_view>

#include "io/fd.hpp"
#include "io/loop.hpp"

namespace switchyard::cli {

class InputReader {
  public:
    struct Handlers {
        std::function<void(std::string_view bytes)> on_data;
        std::function<void()> on_end;
        // Too much is on its way: reading goes on after resume().
        std::function<bool()> must_pause;
    };
    InputReader(io::Loop& loop, Handlers handlers) : loop_(loop), handlers_(std::move(handlers)) {}

    // Standard input, or a file that is ours from now on.
    void start(int fd);
    void start(io::Fd file);
    void resume();
    void stop() { watch_ = {}; }

  private:
    void read_some();

    io::Loop& loop_;
    Handlers handlers_;
    io::Fd file_;
    int fd_ = -1;
    io::Loop::Watch watch_;
};

}  // namespace switchyard::cli
