// labelled_file.hpp: --label for output that goes to a file of the node: each line behind the
// number of its task.
#pragma once

#include <cstdint>
#include <string_view>

#include "io/fd.hpp"
#include "model/output_joiner.hpp"

namespace switchyard::stepd {

class LabelledFile {
  public:
    LabelledFile(io::Fd file, std::uint32_t task_count);
    LabelledFile(const LabelledFile&) = delete;
    LabelledFile& operator=(const LabelledFile&) = delete;

    void take(std::uint32_t task, std::string_view data);  // Empty: there will be no more.

  private:
    void write(std::string_view data) const;

    io::Fd file_;
    model::OutputJoiner joiner_;
};

}  // namespace switchyard::stepd
