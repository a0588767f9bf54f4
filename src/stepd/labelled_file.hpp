// labelled_file.hpp: --label for output that goes to a file of the node: each line behind the
// number of its task.
//
// The task has opened it; until it has, and while whoever reads a FIFO is slow, lines wait here.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "io/fd.hpp"
#include "io/loop.hpp"
#include "model/output_joiner.hpp"

namespace switchyard::stepd {

class LabelledFile {
  public:
    LabelledFile(io::Loop& loop, std::uint32_t task_count);
    LabelledFile(const LabelledFile&) = delete;
    LabelledFile& operator=(const LabelledFile&) = delete;

    void open(io::Fd file);                                // One that never makes us wait.
    void take(std::uint32_t task, std::string_view data);  // Empty: there will be no more.
    std::size_t unwritten_bytes() const { return queue_.size(); }
    void close();  // What is not written by now is lost.
    bool is_done() const { return queue_.empty() || !file_; }
    // Called when all is written, or nobody will ever read it.
    void on_written(std::function<void()> callback) { written_ = std::move(callback); }

  private:
    void flush();

    io::Loop& loop_;
    io::Fd file_;
    io::Loop::Watch watch_;
    std::string queue_;
    std::function<void()> written_;
    model::OutputJoiner joiner_;
};

}  // namespace switchyard::stepd
