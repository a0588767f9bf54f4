#include "stepd/agent_links.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "os/files.hpp"
#include "wire/proto/node.pb.h"

namespace switchyard::stepd {

AgentLinks::AgentLinks(io::Loop& loop, io::Fd first, io::Fd listener, Receive receive)
    : loop_(loop), listener_(std::move(listener)), receive_(std::move(receive)) {
    adopt(std::move(first), true);
    if (listener_) {
        watch_ = loop_.watch(listener_.get(), EPOLLIN, [this](std::uint32_t) { accept_all(); });
    }
}

void AgentLinks::adopt(io::Fd socket, bool first) {
    const auto place = channels_.emplace(channels_.end());
    wire::Channel::Handlers handlers;
    handlers.on_frame = [this](std::string_view frame) {
        wire::AgentToStepd message;
        if (message.ParseFromArray(frame.data(), static_cast<int>(frame.size()))) receive_(message);
    };
    handlers.on_close = [this, place, first](const Error&) {
        channels_.erase(place);
        if (first && first_closed_) first_closed_();
    };
    *place =
        wire::Channel::adopt(loop_, std::move(socket), wire::kStepdToAgent, std::move(handlers));
}

void AgentLinks::accept_all() {
    for (;;) {
        io::Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!socket) return;
        // The file's mode says so already; nobody else ever gives orders here.
        ucred peer{};
        socklen_t size = sizeof peer;
        if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
            (peer.uid != 0 && peer.uid != ::geteuid()))
            continue;
        adopt(std::move(socket), false);
    }
}

void AgentLinks::send(const wire::StepdToAgent& message) {
    const std::string frame = message.SerializeAsString();
    for (const auto& channel : channels_) channel->send(frame);
}

std::string AgentLinks::socket_path() const {
    sockaddr_un address{};
    socklen_t length = sizeof address;
    if (!listener_ ||
        ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0)
        return {};
    return address.sun_path[0] == '/' ? address.sun_path : "";
}

void AgentLinks::forget() {
    if (const std::string path = socket_path(); !path.empty()) ::unlink(path.c_str());
}

bool AgentLinks::can_be_found() const { return os::exists(socket_path()); }

}  // namespace switchyard::stepd
