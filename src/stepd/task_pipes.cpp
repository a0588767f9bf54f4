#include "stepd/task_pipes.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>

#include "os/files.hpp"

namespace switchyard::stepd {
namespace {

constexpr std::size_t kChunkBytesMax = 64u << 10;
constexpr std::size_t kChunksPerDrainMax = 4096;
constexpr char kEndOfFile = 4;  // What a terminal takes as the end of its input.

void set_nonblocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

}  // namespace

Result<io::Fd> TaskPipes::open(std::uint32_t stream) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return os::errno_failure("pipe");
    const int ours = stream == 0 ? 1 : 0;
    streams_[stream].fd.reset(ends[ours]);
    streams_[stream].open = true;
    set_nonblocking(ends[ours]);
    return io::Fd(ends[1 - ours]);
}

void TaskPipes::use_terminal(io::Fd master) {
    is_terminal_ = true;
    set_nonblocking(master.get());
    streams_[1].fd = std::move(master);
    streams_[1].open = true;
}

void TaskPipes::start() {
    for (const std::uint32_t stream : {1u, 2u}) {
        if (!streams_[stream].open) continue;
        streams_[stream].watch =
            loop_.watch(streams_[stream].fd.get(), EPOLLIN, [this, stream](std::uint32_t events) {
                if (is_terminal_ && (events & EPOLLOUT) != 0) flush_input();
                if ((events & ~std::uint32_t{EPOLLOUT}) != 0) read_some(stream);
            });
    }
    flush_input();
}

bool TaskPipes::read_some(std::uint32_t stream) {
    if (!streams_[stream].open) return false;
    char data[kChunkBytesMax];
    const ssize_t got = ::read(streams_[stream].fd.get(), data, sizeof data);
    if (got > 0) {
        output_(stream, std::string_view(data, static_cast<std::size_t>(got)));
        return true;
    }
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    // A terminal whose other side has closed says EIO.
    finish(stream);
    return false;
}

void TaskPipes::finish(std::uint32_t stream) {
    if (!streams_[stream].open) return;
    streams_[stream].open = false;
    streams_[stream].watch = {};
    // A terminal's master stays: its size may still be asked for.
    if (!is_terminal_) streams_[stream].fd.reset();
    output_(stream, {});
}

void TaskPipes::write(std::string_view data) {
    if (input_ends_) return;
    queue_.append(data);
    flush_input();
}

void TaskPipes::close_input() {
    if (std::exchange(input_ends_, true)) return;
    if (is_terminal_) queue_.push_back(kEndOfFile);
    flush_input();
}

void TaskPipes::flush_input() {
    Stream& stream = streams_[is_terminal_ ? 1 : 0];
    while (!queue_.empty()) {
        const ssize_t sent =
            stream.open ? ::write(stream.fd.get(), queue_.data(), queue_.size()) : -1;
        if (sent > 0) {
            queue_.erase(0, static_cast<std::size_t>(sent));
            continue;
        }
        if (stream.open && (errno == EAGAIN || errno == EINTR)) break;
        queue_.clear();  // Nobody reads it any more.
    }
    if (is_terminal_) {
        if (stream.watch)
            stream.watch.set_events(EPOLLIN | (queue_.empty() ? 0u : unsigned{EPOLLOUT}));
    } else if (!queue_.empty() && !stream.watch) {
        stream.watch =
            loop_.watch(stream.fd.get(), EPOLLOUT, [this](std::uint32_t) { flush_input(); });
    } else if (queue_.empty()) {
        stream.watch = {};
        if (input_ends_) {
            stream.fd.reset();
            stream.open = false;
        }
    }
    if (written_ && queue_.empty()) written_();
}

void TaskPipes::pause(bool paused) {
    if (std::exchange(paused_, paused) == paused) return;
    for (const std::uint32_t stream : {1u, 2u}) {
        if (streams_[stream].watch)
            streams_[stream].watch.set_events(paused ? 0u : unsigned{EPOLLIN});
    }
}

void TaskPipes::drain() {
    for (const std::uint32_t stream : {1u, 2u}) {
        for (std::size_t i = 0; i < kChunksPerDrainMax && read_some(stream); ++i) {
        }
    }
}

void TaskPipes::end() {
    drain();
    for (const std::uint32_t stream : {1u, 2u}) finish(stream);
    streams_[0] = {};
    queue_.clear();
}

}  // namespace switchyard::stepd
