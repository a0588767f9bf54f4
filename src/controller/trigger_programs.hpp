// trigger_programs.hpp: the programs that strigger names, run on this host as the users who set
// them, without waiting for them. They outlive a controller that is stopped.
#pragma once

#include <sys/types.h>

#include <deque>
#include <map>
#include <string>

#include "controller/log.hpp"
#include "controller/users.hpp"
#include "core/cluster/effect.hpp"
#include "io/fd.hpp"
#include "io/loop.hpp"

namespace switchyard::controller {

class TriggerPrograms {
  public:
    TriggerPrograms(io::Loop& loop, Log& log, Users& users)
        : loop_(loop), log_(log), users_(users) {}
    TriggerPrograms(const TriggerPrograms&) = delete;
    TriggerPrograms& operator=(const TriggerPrograms&) = delete;

    // So many at once; the rest wait their turn, up to a limit. One that takes too long is killed,
    // with all that it started.
    void run(const core::effect::RunTrigger& order, const std::string& config_path);

  private:
    struct Run {
        core::effect::RunTrigger order;
        std::string config_path;
    };
    struct Running {
        std::uint32_t trigger = 0;
        io::Fd process;
        io::Loop::Watch watch;
        io::Loop::Timer deadline;
    };
    void start(const Run& run);
    void on_exit(pid_t pid);

    io::Loop& loop_;
    Log& log_;
    Users& users_;
    std::deque<Run> queue_;
    std::map<pid_t, Running> running_;
};

}  // namespace switchyard::controller
