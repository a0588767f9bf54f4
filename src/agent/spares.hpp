// spares.hpp: the stepd processes of this agent, and those of them that wait for a next step.
//
// To start a program of this size costs more than all the rest of a short job. So a stepd whose
// step is over and known asks for another one over a socket of its own (its "leash") instead of
// ending, and one is kept ready from the beginning. A spare holds nothing of its last step. It ends
// when its agent does.
#pragma once

#include <sys/types.h>

#include <list>
#include <string>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "io/fd.hpp"
#include "io/loop.hpp"

namespace switchyard::agent {

class Spares {
  public:
    explicit Spares(io::Loop& loop);

    // What people see in the process table besides the step.
    void set_place(std::string node, std::string spool);
    // Hands a step to a spare, or to a new process: `channel` to the agent, and the `listener` of
    // its socket file.
    Result<pid_t> start(const StepKey& key, const io::Fd& channel, const io::Fd& listener);
    bool owns(pid_t pid) const;
    // Before long there will be one that waits.
    void keep_one_ready();
    // Those that are there now get no further step: standard error, which they have from us, has
    // changed.
    void renew();

  private:
    struct Stepd {
        pid_t pid = 0;
        bool idle = false;
        bool outdated = false;  // It gets no further step.
        io::Fd leash;
        io::Loop::Watch watch;
    };

    Result<pid_t> spawn(const std::string& title, const io::Fd* channel, const io::Fd* listener);
    void on_leash(std::list<Stepd>::iterator stepd);
    void trim();

    io::Loop& loop_;
    std::string node_, spool_;
    std::list<Stepd> stepds_;  // Those that wait, the last to be done first; then the others.
    std::size_t idle_ = 0;
    io::Loop::Timer refill_, trim_;
};

}  // namespace switchyard::agent
