// mps_daemons.hpp: one MPS control daemon for each card whose shares MPS keeps, started and watched
// by the agent. They outlive an agent that is restarted while jobs run: the next one finds them by
// their pid files.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"
#include "io/fd.hpp"
#include "io/loop.hpp"
#include "os/log.hpp"

namespace switchyard::agent {

class MpsDaemons {
  public:
    // `folder`: see gpu::mps_folders. `cards`: the driver's name of each card by its index.
    MpsDaemons(io::Loop& loop, std::string folder, std::map<std::uint32_t, std::string> cards,
               const os::Log& log);

    void start();
    void stop();  // Ends them all: nobody uses them any more.
    bool owns(pid_t pid) const;

  private:
    struct Daemon {
        std::string card;
        pid_t pid = 0;
        io::Fd process;
        io::Loop::Watch ended;
        io::Loop::Timer again;
        Millis pause{0};
    };

    void ensure(std::uint32_t device);
    Result<pid_t> find(std::uint32_t device) const;
    Result<pid_t> launch(std::uint32_t device, const Daemon& daemon) const;
    void on_end(std::uint32_t device);
    std::string pid_file(std::uint32_t device) const;

    io::Loop& loop_;
    std::string folder_;
    const os::Log& log_;
    std::map<std::uint32_t, Daemon> daemons_;
};

}  // namespace switchyard::agent
