// turns_door.hpp: where the tasks of a step are handed the memory in which jobs of several users
// take turns on a card (gpu/guard/turns.hpp).
//
// A task closes the descriptors that it was started with, or its parent did. So each process asks
// for it at a socket in the folder of shares, which only the job's user can reach. The memory is
// the agent's; a stepd has it too, so that it lives on when the agent is replaced.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "base/result.hpp"
#include "io/fd.hpp"
#include "io/loop.hpp"
#include "os/users.hpp"

namespace switchyard::stepd {

class TurnsDoor {
  public:
    // `memory`: "/proc/PID/fd/N" of the agent.
    static Result<std::unique_ptr<TurnsDoor>> open(io::Loop& loop, const std::string& memory,
                                                   const std::string& path,
                                                   const os::Identity& who);
    ~TurnsDoor();
    TurnsDoor(const TurnsDoor&) = delete;
    TurnsDoor& operator=(const TurnsDoor&) = delete;

  private:
    TurnsDoor(io::Fd memory, std::string path, uid_t owner)
        : memory_(std::move(memory)), path_(std::move(path)), owner_(owner) {}
    Status listen(io::Loop& loop, const os::Identity& who);
    void serve_all();

    io::Fd memory_;
    std::string path_;
    uid_t owner_;
    io::Fd listener_;
    io::Loop::Watch watch_;
};

}  // namespace switchyard::stepd
