// mailer.hpp: job mail through MailProg, without waiting for it. The program runs as the job's
// user: address and subject are that user's words, and some mail programs take words for orders.
#pragma once

#include <string>

#include "controller/programs/user_programs.hpp"
#include "controller/turn/outbox.hpp"
#include "io/loop.hpp"
#include "os/log.hpp"

namespace switchyard::controller {

class Mailer {
  public:
    Mailer(io::Loop& loop, os::Log& log);
    Mailer(const Mailer&) = delete;
    Mailer& operator=(const Mailer&) = delete;

    // `program -s subject recipient`, as Slurm calls it.
    void send(const std::string& program, const std::string& domain, const ToMail& letter);

  private:
    void on_end(const ProgramOrder& order, const Status& status);

    os::Log& log_;
    UserPrograms programs_;
    std::string missing_;  // The program we have already complained about.
};

}  // namespace switchyard::controller
