#include "cli/submission/user_command.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/text.hpp"

namespace switchyard::cli {
namespace {

bool is_program(const std::string& path) {
    struct stat facts{};
    return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
           ::access(path.c_str(), X_OK) == 0;
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
    std::vector<char*> list;
    list.reserve(strings.size() + 1);
    for (const std::string& text : strings) list.push_back(const_cast<char*>(text.c_str()));
    list.push_back(nullptr);
    return list;
}

// Between fork and exec: only system calls.
[[noreturn]] void become_command(const UserCommand::Plan& plan, bool interactive, char* const* argv,
                                 char* const* environment) {
    if (interactive) {
        ::setpgid(0, 0);
        ::signal(SIGTTOU, SIG_IGN);
        ::tcsetpgrp(STDIN_FILENO, ::getpid());
    }
    for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execve(plan.program.c_str(), argv, environment);
    std::fprintf(stderr, "salloc: error: _fork_command: Unable to exec command \"%s\"\n",
                 plan.program.c_str());
    ::_exit(errno == EACCES ? 126 : 127);
}

}  // namespace

std::string find_program(const std::string& name, const options::Environment& environment) {
    if (name.find('/') != std::string::npos) return is_program(name) ? name : "";
    for (const std::string_view folder : split(options::get_variable(environment, "PATH"), ':')) {
        std::string path = std::string(folder.empty() ? "." : folder) + "/" + name;
        if (is_program(path)) return path;
    }
    return "";
}

UserCommand::UserCommand(io::Loop& loop, std::function<void(int)> ended)
    : loop_(loop), ended_(std::move(ended)) {}

UserCommand::~UserCommand() = default;

bool UserCommand::start(const Plan& plan) {
    // Job control is ours only if the terminal is ours to give.
    interactive_ = ::isatty(STDIN_FILENO) == 1 && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
    watch_ = loop_.on_signal(SIGCHLD, [this] { look(); });
    std::vector<char*> argv = pointers(plan.argv), environment = pointers(plan.environment);
    std::fflush(nullptr);
    child_ = ::fork();
    if (child_ == 0) become_command(plan, interactive_, argv.data(), environment.data());
    if (child_ > 0 && interactive_) {
        // Both sides do it, so that it is done whoever comes first.
        ::setpgid(child_, child_);
        ::signal(SIGTTOU, SIG_IGN);
        ::tcsetpgrp(STDIN_FILENO, child_);
    }
    return child_ > 0;
}

void UserCommand::signal(int number) const {
    if (child_ <= 0) return;
    ::kill(interactive_ ? -child_ : child_, number);
}

void UserCommand::take_terminal() const {
    if (interactive_) ::tcsetpgrp(STDIN_FILENO, ::getpgrp());
}

void UserCommand::look() {
    int status = 0;
    while (child_ > 0 &&
           ::waitpid(child_, &status, WNOHANG | (interactive_ ? WUNTRACED : 0)) == child_) {
        if (WIFSTOPPED(status)) {
            follow_into_stop();
            continue;
        }
        child_ = -1;
        take_terminal();
        ended_(status);
    }
}

// The command was stopped from the terminal: so are we, for the shell that started us; continued,
// we go on together.
void UserCommand::follow_into_stop() {
    take_terminal();
    ::kill(0, SIGSTOP);
    ::tcsetpgrp(STDIN_FILENO, child_);
    ::kill(-child_, SIGCONT);
}

}  // namespace switchyard::cli
