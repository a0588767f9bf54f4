// sink.hpp: a descriptor or file that takes all that is written to it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "io/fd.hpp"
#include "model/job_spec.hpp"

namespace switchyard::cli {

class Sink {
  public:
    explicit Sink(int fd) : fd_(fd) {}
    static Result<Sink> open_file(const std::string& path, model::OpenMode mode);

    // False: nobody reads any more.
    bool write(std::string_view bytes) const;
    int fd() const { return fd_; }

  private:
    io::Fd file_;
    int fd_;
};

}  // namespace switchyard::cli
