// listener.cpp: accepts connections on a unix path or a TCP port.
#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "wire/channel.hpp"
#include "wire/unix_address.hpp"

namespace switchyard::wire {
namespace {

constexpr int kAcceptsPerTurnMax = 64;
constexpr int kBacklog = 4096;
constexpr int kInheritedTriesMax = 100;  // Ten milliseconds apart.
constexpr Millis kOutOfDescriptorsPause{100};

Failure io_failure(const std::string& what) {
    return fail(Errc::Io, fmt::format("{}: {}", what, std::strerror(errno)));
}

class SocketListener final : public Listener {
  public:
    SocketListener(io::Loop& loop, io::Fd socket, std::uint16_t port, Accept accept)
        : core_(std::make_shared<Core>(
              Core{loop, std::move(socket), std::move(accept), {}, {}, false})),
          port_(port) {
        Core& core = *core_;
        core.watch =
            loop.watch(core.socket.get(), EPOLLIN, [weak = std::weak_ptr(core_)](std::uint32_t) {
                if (const auto self = weak.lock()) self->accept_some();
            });
    }
    ~SocketListener() override {
        core_->stopped = true;
        core_->watch = {};
        core_->resume = {};
        if (path_.empty()) return;
        struct stat there{};
        // Another daemon may have put its own socket there meanwhile.
        const bool ours =
            ::stat(path_.c_str(), &there) == 0 && there.st_ino == inode_ && there.st_dev == device_;
        if (ours) ::unlink(path_.c_str());
    }
    std::uint16_t port() const override { return port_; }
    void unlink_at_end(const std::string& path) {
        struct stat here{};
        if (::stat(path.c_str(), &here) != 0) return;
        path_ = path;
        inode_ = here.st_ino;
        device_ = here.st_dev;
    }

  private:
    // Shared with the watch while it accepts, since the callee may destroy the listener.
    struct Core {
        io::Loop& loop;
        io::Fd socket;
        Accept accept;
        io::Loop::Watch watch;
        io::Loop::Timer resume;
        bool stopped;

        void accept_some() {
            for (int i = 0; i < kAcceptsPerTurnMax && !stopped; ++i) {
                io::Fd accepted(
                    ::accept4(socket.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
                if (accepted) {
                    accept(std::move(accepted));
                    continue;
                }
                if (errno == ECONNABORTED || errno == EINTR) continue;
                if (errno != EAGAIN) rest();
                return;
            }
        }
        // Out of descriptors: the connection stays in the queue, and asking at once again would
        // spin.
        void rest() {
            watch.set_events(0);
            resume = loop.after(kOutOfDescriptorsPause, [this] { watch.set_events(EPOLLIN); });
        }
    };

    std::shared_ptr<Core> core_;
    std::uint16_t port_;
    std::string path_;
    ino_t inode_ = 0;
    dev_t device_ = 0;
};

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

// Two daemons that start at once must not both find the same stale socket. The lock is on the
// folder, so that it leaves no file behind; nobody holds it for longer than a bind takes, and a
// stranger who does is not waited for.
io::Fd lock_folder_of(const std::string& path) {
    io::Fd folder(::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder) return folder;
    for (int i = 0; i < 100 && ::flock(folder.get(), LOCK_EX | LOCK_NB) != 0; ++i) {
        std::this_thread::sleep_for(Millis{10});
    }
    return folder;
}

// Removes a socket file that nobody listens on.
Status clear_stale(const std::string& path, const UnixAddress& address) {
    struct stat there{};
    if (::lstat(path.c_str(), &there) != 0) return {};
    if (!S_ISSOCK(there.st_mode))
        return fail(Errc::Io, fmt::format("{} exists and is not a socket", path));
    // A child that a killed daemon was just starting may hold its socket for a moment.
    for (int i = 0; i < kInheritedTriesMax; ++i) {
        const io::Fd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
        if (!probe) return io_failure("socket");
        if (::connect(probe.get(), address.get(), address.size) != 0 && errno == ECONNREFUSED)
            return ::unlink(path.c_str()) == 0 ? Status{} : io_failure(path);
        std::this_thread::sleep_for(Millis{10});
    }
    return fail(Errc::Busy, fmt::format("another daemon is already listening on {}", path));
}

Result<io::Fd> bind_tcp(const addrinfo& address) {
    io::Fd socket(::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket) return io_failure("socket");
    const int on = 1, off = 0;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    // The wildcard of IPv6 serves IPv4 too.
    if (address.ai_family == AF_INET6)
        ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (::bind(socket.get(), address.ai_addr, address.ai_addrlen) != 0) return io_failure("bind");
    if (::listen(socket.get(), kBacklog) != 0) return io_failure("listen");
    return socket;
}

std::uint16_t port_of(int socket) {
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    if (::getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return 0;
    if (bound.ss_family == AF_INET6)
        return ntohs(reinterpret_cast<const sockaddr_in6&>(bound).sin6_port);
    return ntohs(reinterpret_cast<const sockaddr_in&>(bound).sin_port);
}

// Numeric first, then by name; the wildcard as IPv6 where the host has that, else as IPv4.
Result<io::Fd> bind_any(const std::string& address, std::uint16_t port) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    addrinfo* list = nullptr;
    const std::string service = std::to_string(port);
    const int code =
        ::getaddrinfo(address.empty() ? nullptr : address.c_str(), service.c_str(), &hints, &list);
    if (code != 0)
        return fail(Errc::InvalidArgument, fmt::format("{}: {}", address, ::gai_strerror(code)));
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, &::freeaddrinfo);
    Result<io::Fd> last = fail(Errc::Io, "no address");
    for (const int family : {AF_INET6, AF_INET}) {
        for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
            if (each->ai_family != family) continue;
            last = bind_tcp(*each);
            if (last) return last;
        }
    }
    return fail(Errc::Io, fmt::format("port {} of {}: {}", port, address.empty() ? "*" : address,
                                      last.error().message));
}

}  // namespace

Result<std::unique_ptr<Listener>> Listener::on_unix(io::Loop& loop, const std::string& path,
                                                    std::uint32_t mode, Accept accept) {
    SY_TRY(const UnixAddress address, unix_address(path));
    const io::Fd lock = lock_folder_of(path);
    SY_CHECK(clear_stale(path, address));
    io::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket) return io_failure("socket");
    if (::bind(socket.get(), address.get(), address.size) != 0) return io_failure(path);
    // Nobody can connect before listen(), so the mode is right from the first connection on.
    if (::chmod(path.c_str(), mode) != 0) return io_failure(path);
    if (::listen(socket.get(), kBacklog) != 0) return io_failure(path);
    auto listener = std::make_unique<SocketListener>(loop, std::move(socket), std::uint16_t{0},
                                                     std::move(accept));
    listener->unlink_at_end(path);
    return std::unique_ptr<Listener>(std::move(listener));
}

Result<std::unique_ptr<Listener>> Listener::on_tcp(io::Loop& loop, const std::string& address,
                                                   std::uint16_t port, Accept accept) {
    SY_TRY(io::Fd socket, bind_any(address, port));
    const std::uint16_t bound = port_of(socket.get());
    return std::unique_ptr<Listener>(
        std::make_unique<SocketListener>(loop, std::move(socket), bound, std::move(accept)));
}

}  // namespace switchyard::wire
