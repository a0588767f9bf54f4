#include "controller/mailer.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

namespace switchyard::controller {
namespace {

constexpr std::size_t kAtOnceMax = 32;
constexpr std::size_t kWaitingMax = 10'000;

class SpawnSetup {
  public:
    SpawnSetup() {
        ::posix_spawn_file_actions_init(&files);
        ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        ::posix_spawnattr_init(&attributes);
        // Our loop blocks the signals it handles; the program must not inherit that.
        sigset_t none, all;
        ::sigemptyset(&none);
        ::sigfillset(&all);
        ::posix_spawnattr_setsigmask(&attributes, &none);
        ::posix_spawnattr_setsigdefault(&attributes, &all);
        ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    ~SpawnSetup() {
        ::posix_spawn_file_actions_destroy(&files);
        ::posix_spawnattr_destroy(&attributes);
    }
    SpawnSetup(const SpawnSetup&) = delete;
    SpawnSetup& operator=(const SpawnSetup&) = delete;

    posix_spawn_file_actions_t files{};
    posix_spawnattr_t attributes{};
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (std::string& text : texts) out.push_back(text.data());
    out.push_back(nullptr);
    return out;
}

}  // namespace

void Mailer::send(const std::string& program, const std::string& domain,
                  const core::effect::Mail& mail) {
    if (queue_.size() >= kWaitingMax) {
        log_.error("too many mails wait for {}: one to {} is dropped", program, mail.to);
        return;
    }
    Letter letter{.program = program, .to = mail.to, .subject = mail.subject, .environment = {}};
    if (!domain.empty() && letter.to.find('@') == std::string::npos) letter.to += "@" + domain;
    for (const auto& [name, value] : mail.environment)
        letter.environment.push_back(name + "=" + value);
    if (const char* path = ::getenv("PATH"))
        letter.environment.push_back(fmt::format("PATH={}", path));
    if (running_.size() >= kAtOnceMax) {
        queue_.push_back(std::move(letter));
    } else {
        spawn(letter);
    }
}

void Mailer::spawn(const Letter& letter) {
    const SpawnSetup setup;
    std::vector<std::string> arguments{letter.program, "-s", letter.subject, letter.to};
    std::vector<std::string> environment = letter.environment;
    pid_t pid = 0;
    const int result = ::posix_spawn(&pid, letter.program.c_str(), &setup.files, &setup.attributes,
                                     pointers(arguments).data(), pointers(environment).data());
    if (result != 0) {
        if (missing_ != letter.program) {
            log_.error("Configured MailProg is invalid: {}: {}", letter.program,
                       std::strerror(result));
        }
        missing_ = letter.program;
        return;
    }
    io::Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    Running& entry = running_[pid];
    entry.process = std::move(process);
    entry.watch =
        loop_.watch(entry.process.get(), EPOLLIN, [this, pid](std::uint32_t) { on_exit(pid); });
}

void Mailer::on_exit(pid_t pid) {
    int status = 0;
    if (::waitpid(pid, &status, WNOHANG) == 0) return;
    if (status != 0) log_.error("MailProg returned error, its wait status was {}", status);
    running_.erase(pid);
    if (queue_.empty()) return;
    const Letter next = std::move(queue_.front());
    queue_.pop_front();
    spawn(next);
}

}  // namespace switchyard::controller
