#include "stepd/turns_door.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "gpu/guard/turns.hpp"
#include "os/descriptors.hpp"
#include "os/files.hpp"
#include "os/sealed_memory.hpp"
#include "wire/unix_address.hpp"

namespace switchyard::stepd {
namespace {

constexpr int kBacklog = 64;

}  // namespace

Result<std::unique_ptr<TurnsDoor>> TurnsDoor::open(io::Loop& loop, const std::string& memory,
                                                   const std::string& path,
                                                   const os::Identity& who) {
    SY_TRY(io::Fd opened, os::open_sealed_memory(memory, guard::Turns::kBytes));
    std::unique_ptr<TurnsDoor> door(new TurnsDoor(std::move(opened), path, who.uid));
    SY_CHECK(door->listen(loop, who));
    return door;
}

TurnsDoor::~TurnsDoor() { ::unlink(path_.c_str()); }

// The folder is ours: what has the name there was left by a stepd that was killed.
Status TurnsDoor::listen(io::Loop& loop, const os::Identity& who) {
    listener_.reset(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!listener_) return os::errno_failure("socket");
    SY_TRY(const wire::UnixAddress address, wire::unix_address(path_));
    ::unlink(path_.c_str());
    const mode_t before = ::umask(0177);
    const bool bound = ::bind(listener_.get(), address.get(), address.size) == 0;
    ::umask(before);
    const bool given = ::geteuid() != 0 || ::lchown(path_.c_str(), who.uid, who.gid) == 0;
    if (!bound || !given || ::listen(listener_.get(), kBacklog) != 0)
        return os::errno_failure(path_);
    watch_ = loop.watch(listener_.get(), EPOLLIN, [this](std::uint32_t) { serve_all(); });
    return {};
}

void TurnsDoor::serve_all() {
    for (;;) {
        const io::Fd asking(
            ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!asking) return;
        ucred peer{};
        socklen_t size = sizeof peer;
        if (::getsockopt(asking.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
            (peer.uid != owner_ && peer.uid != 0))
            continue;
        (void)os::send_packet(asking.get(), "turns", std::array{memory_.get()});
    }
}

}  // namespace switchyard::stepd
