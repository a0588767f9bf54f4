#include "wire/tcp.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <string_view>

namespace switchyard::wire {
namespace {

constexpr int kIdleSeconds = 10, kProbeSeconds = 5, kProbes = 4;
constexpr int kUnansweredMillis = 30'000;

void set(int socket, int level, int name, int value) {
    ::setsockopt(socket, level, name, &value, sizeof value);
}

}  // namespace

void tune_tcp(int socket) {
    set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
    set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(socket, IPPROTO_TCP, TCP_KEEPIDLE, kIdleSeconds);
    set(socket, IPPROTO_TCP, TCP_KEEPINTVL, kProbeSeconds);
    set(socket, IPPROTO_TCP, TCP_KEEPCNT, kProbes);
    set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, kUnansweredMillis);
}

std::string tcp_peer_address(int socket) {
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    if (::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &size) != 0) return {};
    char text[INET6_ADDRSTRLEN] = "";
    if (peer.ss_family == AF_INET) {
        ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(peer).sin_addr, text,
                    sizeof text);
    } else if (peer.ss_family == AF_INET6) {
        ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr, text,
                    sizeof text);
    }
    constexpr std::string_view kMapped = "::ffff:";
    const std::string_view address = text;
    const bool mapped = address.starts_with(kMapped) && address.find('.') != std::string_view::npos;
    return std::string(mapped ? address.substr(kMapped.size()) : address);
}

}  // namespace switchyard::wire
