// programs.hpp: the site's programs around something that happens, such as a Prolog: those of one
// order run one after the other, as whoever this process is, and the first that fails ends it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "io/fd.hpp"
#include "io/loop.hpp"

namespace switchyard::os {

// The programs that glob patterns mean, in their order, each pattern's by name. A path that means
// none stays as it is, and running it will say so.
std::vector<std::string> expand_programs(const std::vector<std::string>& patterns);

// What the wait status of a program says: the failure names the program, and how it ended.
Status judge_exit(const std::string& program, int wait_status);

class Programs {
  public:
    using Done = std::function<void(const Status& status)>;
    using Id = std::uint64_t;
    struct Order {
        std::vector<std::string> programs = {};
        std::vector<std::string> environment = {};
        Seconds timeout{0};  // Of each; 0: as long as it takes.
    };
    // Who waits for children: whoever owns this, for all of the process, and calls on_exit(); or
    // this, for each by itself.
    enum class Reaping : std::uint8_t { ByOwner, ByItself };

    Programs(io::Loop& loop, Reaping reaping) : loop_(loop), reaping_(reaping) {}
    ~Programs() = default;
    Programs(const Programs&) = delete;
    Programs& operator=(const Programs&) = delete;

    // So many orders at once; the others wait their turn.
    void set_at_once_max(std::size_t count) { at_once_max_ = count; }

    // `done` is called later, with the first failure.
    Id add(Order order, Done done);
    // Killed, with all that it started in its session; its `done` is not called.
    void stop(Id id);
    void stop_all();

    // A child has ended: false if it is none of these.
    bool on_exit(pid_t pid, int status);
    bool owns(pid_t pid) const;

  private:
    struct Run {
        Id id = 0;
        Order order;  // Its programs are those left to run; the first one runs.
        pid_t pid = 0;
        bool timed_out = false;
        io::Fd process;
        io::Loop::Watch watch;
        io::Loop::Timer timer;
        Done done;
    };
    using Runs = std::list<Run>;

    void start_next();
    void start(Run& run);
    void finish(Runs::iterator run, const Status& status);

    io::Loop& loop_;
    Reaping reaping_;
    std::size_t at_once_max_ = ~std::size_t{0};
    Id last_ = 0;
    Runs runs_;
};

}  // namespace switchyard::os
