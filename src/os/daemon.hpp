// daemon.hpp: leaving the terminal, and being the only one.
#pragma once

#include <string>

#include "base/result.hpp"
#include "io/fd.hpp"

namespace switchyard::os {

// The caller goes on in the background, in a session of its own, with standard input and output on
// /dev/null; standard error stays until the log replaces it. The foreground process ends with 0
// once `become_ready` was called in the background one, or with 1 if that ended before.
class Background {
  public:
    Status enter();       // Returns only in the background process.
    void become_ready();  // Lets the foreground process go.

  private:
    io::Fd ready_;
};

// Holds a lock on the file for as long as it lives and writes the pid into it. Busy if another
// process holds it; the message says which.
Result<io::Fd> lock_pid_file(const std::string& path);

}  // namespace switchyard::os
