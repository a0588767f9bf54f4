#include "os/daemon.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/text.hpp"
#include "io/file_lock.hpp"
#include "os/files.hpp"

namespace switchyard::os {

Status Background::enter() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return errno_failure("pipe");
    io::Fd read_end(ends[0]);
    ready_.reset(ends[1]);
    const pid_t pid = ::fork();
    if (pid < 0) return errno_failure("fork");
    if (pid > 0) {
        ready_.reset();
        char byte = 0;
        ::_exit(::read(read_end.get(), &byte, 1) == 1 ? 0 : 1);
    }
    ::setsid();
    const io::Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!nothing) return errno_failure("/dev/null");
    ::dup2(nothing.get(), STDIN_FILENO);
    ::dup2(nothing.get(), STDOUT_FILENO);
    return {};
}

void Background::become_ready() {
    if (!ready_) return;
    [[maybe_unused]] const ssize_t sent = ::write(ready_.get(), "r", 1);
    ready_.reset();
}

Result<io::Fd> lock_pid_file(const std::string& path) {
    // Its folder may be SlurmUser's, and we root.
    io::Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!file) return errno_failure(path);
    if (!io::lock_alone(file.get())) {
        const auto text = read_file(path);
        return fail(Errc::Busy, fmt::format("{}: already running as process {}", path,
                                            text ? trim(*text) : std::string_view("?")));
    }
    const std::string line = fmt::format("{}\n", ::getpid());
    if (::ftruncate(file.get(), 0) != 0 ||
        ::pwrite(file.get(), line.data(), line.size(), 0) != static_cast<ssize_t>(line.size())) {
        return errno_failure(path);
    }
    return file;
}

}  // namespace switchyard::os
