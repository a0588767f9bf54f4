// user_programs.hpp: programs that the controller runs for users on its host, as those users,
// without waiting for them: not for their end, and not for their beginning (run_program.hpp).
//
// So many at once, and of one user only a part of them; the rest wait their turn, up to a limit.
// One that takes too long is killed with all that it started. One that cannot be killed (its file
// is on a mount that does not answer) counts on against its user alone.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/limits.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "io/fd.hpp"
#include "io/loop.hpp"

namespace switchyard::controller {

struct ProgramOrder {
    std::string what;  // For the log: "trigger 3".
    std::uint32_t uid = 0, gid = 0;
    std::vector<std::string> argv;  // The first is the program's path.
    std::vector<std::string> environment;
};

struct ProgramLimits {
    std::size_t at_once_max = limits::kUserProgramsAtOnceMax;
    std::size_t at_once_per_user_max = limits::kUserProgramsAtOncePerUserMax;
    std::size_t waiting_max = limits::kUserProgramsWaitingMax;
    std::size_t waiting_per_user_max = limits::kUserProgramsWaitingPerUserMax;
    Seconds run_time_max{300};
};

class UserPrograms {
  public:
    using Ended = std::function<void(const ProgramOrder& order, const Status& status)>;
    UserPrograms(io::Loop& loop, Ended ended, const ProgramLimits& limits = {})
        : loop_(loop), ended_(std::move(ended)), limits_(limits) {}
    UserPrograms(const UserPrograms&) = delete;
    UserPrograms& operator=(const UserPrograms&) = delete;

    // Busy: too many wait already. Whatever else goes wrong `ended` hears.
    Status run(ProgramOrder order);

  private:
    struct Running {
        ProgramOrder order;
        io::Fd process, report;
        io::Loop::Watch watch;
        io::Loop::Timer timer;
        bool timed_out = false;
        bool stuck = false;  // Killed, and still there.
    };
    bool may_start(std::uint32_t uid) const;
    void start_waiting();
    Status start(const ProgramOrder& order);
    void on_too_long(pid_t pid);
    void on_exit(pid_t pid);

    io::Loop& loop_;
    Ended ended_;
    ProgramLimits limits_;
    std::deque<ProgramOrder> queue_;
    std::map<pid_t, Running> running_;
};

// Whom a program can be run as: the user, or ourselves where we cannot become others.
std::uint32_t uid_to_run_as(std::uint32_t uid);

}  // namespace switchyard::controller
