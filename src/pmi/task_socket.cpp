#include "pmi/task_socket.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>

namespace switchyard::pmi {
namespace {

constexpr std::size_t kBytesPerTurnMax = 256u << 10;
constexpr std::size_t kUnreadBytesMax = 4u << 20;

}  // namespace

TaskSocket::TaskSocket(io::Loop& loop, io::Fd fd, Handle handle)
    : fd_(std::move(fd)), handle_(std::move(handle)) {
    watch_ = loop.watch(fd_.get(), EPOLLIN, [this](std::uint32_t events) { on_ready(events); });
}

void TaskSocket::on_ready(std::uint32_t events) {
    if ((events & EPOLLOUT) != 0) write_some();
    if ((events & ~EPOLLOUT) == 0) return;
    const bool open = read_some();
    while (true) {
        const auto words = take_words(in_, dialect_);
        if (!words) {
            watch_ = {};  // Not a speaker of PMI: nobody to listen to.
            return;
        }
        if (!*words) break;
        handle_(**words);
        if (!watch_) return;
    }
    if (!open) watch_ = {};
}

// Whether there may be more to come. Not all that a task writes without end: others have their
// turn.
bool TaskSocket::read_some() {
    char piece[16384];
    for (std::size_t i = 0; i * sizeof piece < kBytesPerTurnMax; ++i) {
        const ssize_t got = ::recv(fd_.get(), piece, sizeof piece, MSG_DONTWAIT);
        if (got > 0) {
            in_.append(piece, static_cast<std::size_t>(got));
            continue;
        }
        if (got < 0 && errno == EINTR) continue;
        return got < 0 && errno == EAGAIN;
    }
    return true;
}

void TaskSocket::send(const Words& words) {
    out_ += format_words(words, dialect_);
    write_some();
    if (out_.size() <= kUnreadBytesMax) return;
    watch_ = {};  // It asks and does not read: nobody to answer.
    out_.clear();
}

void TaskSocket::write_some() {
    while (!out_.empty()) {
        const ssize_t sent =
            ::send(fd_.get(), out_.data(), out_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0 && errno != EAGAIN) out_.clear();
        if (sent <= 0) break;
        out_.erase(0, static_cast<std::size_t>(sent));
    }
    if (watch_) watch_.set_events(out_.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT);
}

}  // namespace switchyard::pmi
