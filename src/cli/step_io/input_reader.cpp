#include "cli/step_io/input_reader.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>

namespace switchyard::cli {
namespace {

constexpr std::size_t kChunkBytes = 64u << 10;

}  // namespace

void InputReader::start(io::Fd file) {
    file_ = std::move(file);
    start(file_.get());
}

void InputReader::start(int fd) {
    fd_ = fd;
    watch_ = loop_.watch(fd_, EPOLLIN, [this](std::uint32_t) { read_some(); });
}

void InputReader::resume() {
    if (watch_) watch_.set_events(EPOLLIN);
}

void InputReader::read_some() {
    // In the background of a terminal there is nothing to read, and to try would stop us.
    const pid_t foreground = ::isatty(fd_) == 1 ? ::tcgetpgrp(fd_) : -1;
    if (foreground > 0 && foreground != ::getpgrp()) {
        watch_.set_events(0);
        return;
    }
    char chunk[kChunkBytes];
    const ssize_t got = ::read(fd_, chunk, sizeof chunk);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) {
        watch_ = {};
        handlers_.on_end();
        return;
    }
    handlers_.on_data(std::string_view(chunk, static_cast<std::size_t>(got)));
    if (watch_ && handlers_.must_pause()) watch_.set_events(0);
}

}  // namespace switchyard::cli
