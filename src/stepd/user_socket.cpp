#include "stepd/user_socket.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "os/descriptors.hpp"
#include "os/files.hpp"
#include "os/spawn.hpp"
#include "wire/unix_address.hpp"

namespace switchyard::stepd {
namespace {

// While the queue of whoever listens is full the only way to learn of room is to ask again.
constexpr Millis kRetryEvery{5};
constexpr int kRetriesMax = 2000;
constexpr Millis kElsewhereMax{10'000};

Status check_listener(int socket, const std::string& path, const os::Identity& who) {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return os::errno_failure(path);
    if (peer.uid == who.uid || peer.uid == 0) return {};
    return fail(Errc::AccessDenied,
                fmt::format("{}: user {} listens there, not {}", path, peer.uid, who.uid));
}

// Never waits for a file system: EAGAIN where one would have to be asked.
int open_as_known(const std::string& path) {
    open_how how{};
    how.flags = O_PATH | O_CLOEXEC;
    how.resolve = RESOLVE_CACHED;
    return static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how));
}

Result<io::Fd> connect_to(const std::string& path, int flags) {
    io::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
    if (!socket) return os::errno_failure("socket");
    SY_TRY(const wire::UnixAddress address, wire::unix_address(path));
    if (::connect(socket.get(), address.get(), address.size) == 0) return socket;
    return os::errno_failure(path);
}

// In a process of its own: it says what came of it, with the connection if there is one.
[[noreturn]] void dial_for(int report, const std::string& path, const os::Identity& who) {
    for (const int signal : {SIGTERM, SIGHUP, SIGINT, SIGQUIT}) ::signal(signal, SIG_DFL);
    if (!os::become(who)) ::_exit(1);
    const auto socket = connect_to(path, 0);
    if (socket) {
        ::fcntl(socket->get(), F_SETFL, O_NONBLOCK);
        (void)os::send_packet(report, "connected", std::array{socket->get()});
    } else {
        (void)os::send_packet(report, socket.error().message);
    }
    ::_exit(0);
}

}  // namespace

UserSocket::UserSocket(io::Loop& loop, std::string path, os::Identity who, Done done)
    : loop_(loop), path_(std::move(path)), who_(std::move(who)), done_(std::move(done)) {
    retry_ = loop_.after(Millis{0}, [this] { attempt(); });
}

UserSocket::~UserSocket() { os::signal_pidfd(process_, SIGKILL); }

// Busy: ask again. Unreachable: not without asking the file system.
Result<io::Fd> UserSocket::dial() const {
    const os::ActingAs user(who_);
    if (!user.ok()) return os::errno_failure(path_);
    const io::Fd place(open_as_known(path_));
    if (!place && (errno == ENOENT || errno == EACCES || errno == ENOTDIR))
        return os::errno_failure(path_);
    if (!place) return fail(Errc::Unreachable, path_);
    auto socket = connect_to(fmt::format("/proc/self/fd/{}", place.get()), SOCK_NONBLOCK);
    if (socket) return socket;
    return fail(socket.error().code, fmt::format("{}: {}", path_, std::strerror(errno)));
}

void UserSocket::attempt() {
    auto socket = dial();
    if (socket) return finish(std::move(socket));
    if (socket.error().code == Errc::Busy && ++retries_ < kRetriesMax) {
        retry_ = loop_.after(kRetryEvery, [this] { attempt(); });
        return;
    }
    if (socket.error().code != Errc::Unreachable) return finish(std::move(socket));
    if (const Status begun = dial_elsewhere(); !begun) finish(Failure{begun.error()});
}

Status UserSocket::dial_elsewhere() {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0)
        return os::errno_failure("socketpair");
    answer_.reset(pair[0]);
    const io::Fd theirs(pair[1]);
    const pid_t pid = ::fork();
    if (pid < 0) return os::errno_failure("fork");
    if (pid == 0) dial_for(theirs.get(), path_, who_);
    SY_TRY(process_, os::open_pidfd(pid));
    answered_ = loop_.watch(answer_.get(), EPOLLIN, [this](std::uint32_t) { take_answer(); });
    patience_ = loop_.after(kElsewhereMax, [this] {
        finish(fail(Errc::Timeout, path_ + ": the file system does not answer"));
    });
    return {};
}

void UserSocket::take_answer() {
    auto packet = os::receive_packet(answer_.get());
    if (packet && packet->descriptors.size() == 1)
        return finish(std::move(packet->descriptors.front()));
    finish(fail(Errc::Io, packet ? packet->text : path_ + ": nobody could dial it"));
}

void UserSocket::finish(Result<io::Fd> socket) {
    answered_ = {};
    patience_ = {};
    if (socket) {
        if (const Status known = check_listener(socket->get(), path_, who_); !known)
            socket = Failure{known.error()};
    }
    const Done done = std::move(done_);
    done(std::move(socket));
}

}  // namespace switchyard::stepd
