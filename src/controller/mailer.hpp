// mailer.hpp: job mail through MailProg, without waiting for it.
#pragma once

#include <sys/types.h>

#include <deque>
#include <map>
#include <string>

#include "controller/log.hpp"
#include "core/cluster/effect.hpp"
#include "io/fd.hpp"
#include "io/loop.hpp"

namespace switchyard::controller {

class Mailer {
  public:
    Mailer(io::Loop& loop, Log& log) : loop_(loop), log_(log) {}
    Mailer(const Mailer&) = delete;
    Mailer& operator=(const Mailer&) = delete;

    // `program -s subject recipient`. So many at once; the rest wait their turn, up to a limit.
    void send(const std::string& program, const std::string& domain,
              const core::effect::Mail& mail);

  private:
    struct Letter {
        std::string program, to, subject;
        std::vector<std::string> environment;
    };
    struct Running {
        io::Fd process;
        io::Loop::Watch watch;
    };
    void spawn(const Letter& letter);
    void on_exit(pid_t pid);

    io::Loop& loop_;
    Log& log_;
    std::deque<Letter> queue_;
    std::map<pid_t, Running> running_;
    std::string missing_;  // The program we have already complained about.
};

}  // namespace switchyard::controller
