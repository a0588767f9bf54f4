#include "stepd/user_socket.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "os/files.hpp"
#include "wire/unix_address.hpp"

namespace switchyard::stepd {
namespace {

// While the queue of whoever listens is full the only way to learn of room is to ask again.
constexpr Millis kRetryEvery{5};
constexpr int kRetriesMax = 2000;

Status check_listener(int socket, const std::string& path, const os::Identity& who) {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return os::errno_failure(path);
    if (peer.uid == who.uid || peer.uid == 0) return {};
    return fail(Errc::AccessDenied,
                fmt::format("{}: user {} listens there, not {}", path, peer.uid, who.uid));
}

}  // namespace

UserSocket::UserSocket(io::Loop& loop, std::string path, os::Identity who, Done done)
    : loop_(loop), path_(std::move(path)), who_(std::move(who)), done_(std::move(done)) {
    retry_ = loop_.after(Millis{0}, [this] { attempt(); });
}

Result<io::Fd> UserSocket::dial() const {
    io::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket) return os::errno_failure("socket");
    const os::ActingAs user(who_);
    if (!user.ok()) return os::errno_failure(path_);
    SY_TRY(const wire::UnixAddress address, wire::unix_address(path_));
    if (::connect(socket.get(), address.get(), address.size) == 0) return socket;
    if (errno == EAGAIN) return fail(Errc::Busy, path_ + ": nobody answers");
    return os::errno_failure(path_);
}

void UserSocket::attempt() {
    auto socket = dial();
    if (!socket && socket.error().code == Errc::Busy && ++retries_ < kRetriesMax) {
        retry_ = loop_.after(kRetryEvery, [this] { attempt(); });
        return;
    }
    if (socket) {
        if (const Status known = check_listener(socket->get(), path_, who_); !known)
            socket = Failure{known.error()};
    }
    const Done done = std::move(done_);
    done(std::move(socket));
}

}  // namespace switchyard::stepd
