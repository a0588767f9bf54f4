// user_command.hpp: the command that salloc runs on its own host, with job control when there is a
// terminal.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "io/loop.hpp"
#include "options/export.hpp"

namespace switchyard::cli {

// The path of a program as a shell finds it; empty: there is none.
std::string find_program(const std::string& name, const options::Environment& environment);

class UserCommand {
  public:
    struct Plan {
        std::string program;
        std::vector<std::string> argv;
        options::Environment environment;
    };
    // `ended` gets the wait status.
    UserCommand(io::Loop& loop, std::function<void(int)> ended);
    ~UserCommand();
    UserCommand(const UserCommand&) = delete;
    UserCommand& operator=(const UserCommand&) = delete;

    // With a terminal the command gets a process group of its own, in the foreground. False: errno
    // says why.
    bool start(const Plan& plan);
    void signal(int number) const;  // To its whole group where it has one.
    bool running() const { return child_ > 0; }
    bool interactive() const { return interactive_; }

  private:
    void look();
    void follow_into_stop();
    void take_terminal() const;

    io::Loop& loop_;
    std::function<void(int)> ended_;
    io::Loop::Watch watch_;
    pid_t child_ = -1;
    bool interactive_ = false;
};

}  // namespace switchyard::cli
