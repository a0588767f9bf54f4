#include "wire/blocking.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>
#include <utility>

#include "base/limits.hpp"
#include "wire/unix_address.hpp"

namespace switchyard::wire {
namespace {

using Clock = std::chrono::steady_clock;

// How long a full queue of connections, or a peer that does not read, is waited for.
constexpr timeval kSendTimeout{.tv_sec = 60, .tv_usec = 0};

Errc connect_code(int error) {
    if (error == ENOENT || error == ENOTDIR) return Errc::NotFound;
    if (error == EACCES || error == EPERM) return Errc::AccessDenied;
    return Errc::Unreachable;
}

Failure lost(int error) {
    if (error == EAGAIN || error == EWOULDBLOCK) return fail(Errc::Timeout);
    return fail(Errc::Unreachable, fmt::format("connection lost: {}", std::strerror(error)));
}

// Whether there is something to read; false when the time is up.
Result<bool> wait_readable(int fd, std::optional<Clock::time_point> deadline) {
    for (;;) {
        int timeout = -1;
        if (deadline) {
            const auto left = std::chrono::ceil<Millis>(*deadline - Clock::now()).count();
            timeout = static_cast<int>(
                std::clamp<std::int64_t>(left, 0, std::numeric_limits<int>::max()));
        }
        pollfd one{.fd = fd, .events = POLLIN, .revents = 0};
        const int ready = ::poll(&one, 1, timeout);
        if (ready > 0) return true;
        if (ready == 0) return false;
        if (errno != EINTR) return lost(errno);
    }
}

}  // namespace

Result<FrameSocket> FrameSocket::connect_unix(const std::string& path, const Protocol& protocol) {
    SY_TRY(const UnixAddress address, unix_address(path));
    io::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket) return fail(Errc::Io, fmt::format("socket: {}", std::strerror(errno)));
    ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kSendTimeout, sizeof kSendTimeout);
    if (::connect(socket.get(), address.get(), address.size) != 0) {
        return fail(connect_code(errno), fmt::format("{}: {}", path, std::strerror(errno)));
    }
    return FrameSocket(std::move(socket), protocol);
}

Status FrameSocket::send(std::string_view frame) {
    if (frame.size() > limits::kFrameBytesMax) {
        return fail(Errc::Busy, fmt::format("a message of {} bytes is larger than the limit of {}",
                                            frame.size(), limits::kFrameBytesMax));
    }
    std::string header(std::exchange(greeting_, {}));
    append_frame_header(header, frame.size());
    iovec pieces[2] = {{.iov_base = header.data(), .iov_len = header.size()},
                       {.iov_base = const_cast<char*>(frame.data()), .iov_len = frame.size()}};
    msghdr message{};
    message.msg_iov = pieces;
    message.msg_iovlen = 2;
    for (std::size_t left = header.size() + frame.size(); left > 0;) {
        const ssize_t sent = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return lost(errno);
        left -= static_cast<std::size_t>(sent);
        for (std::size_t skip = static_cast<std::size_t>(sent); iovec & piece : pieces) {
            const std::size_t part = std::min(skip, piece.iov_len);
            piece.iov_base = static_cast<char*>(piece.iov_base) + part;
            piece.iov_len -= part;
            skip -= part;
        }
    }
    return {};
}

Result<std::optional<std::string_view>> FrameSocket::buffered() {
    if (ahead_) return std::exchange(ahead_, std::nullopt);
    return inbox_.next();
}

bool FrameSocket::has_buffered_frame() {
    if (ahead_) return true;
    const auto next = inbox_.next();
    // A malformed one counts: receive() will say so.
    if (!next) return true;
    ahead_ = *next;
    return ahead_.has_value();
}

Result<std::string_view> FrameSocket::receive(std::optional<Millis> wait) {
    std::optional<Clock::time_point> deadline;
    if (wait) deadline = Clock::now() + *wait;
    for (;;) {
        SY_TRY(const std::optional<std::string_view> frame, buffered());
        if (frame) return *frame;
        SY_TRY(const bool readable, wait_readable(socket_.get(), deadline));
        if (!readable) return fail(Errc::Timeout);
        const auto space = inbox_.space();
        const ssize_t got = ::recv(socket_.get(), space.data(), space.size(), MSG_DONTWAIT);
        if (got > 0) {
            inbox_.commit(static_cast<std::size_t>(got));
            continue;
        }
        if (got == 0) return fail(Errc::Unreachable, "connection closed by the other end");
        if (errno != EINTR && errno != EAGAIN) return lost(errno);
    }
}

}  // namespace switchyard::wire
