#include "os/descriptors.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/assert.hpp"
#include "os/files.hpp"

namespace switchyard::os {
namespace {

constexpr std::size_t kControlBytes = CMSG_SPACE(kPacketDescriptorsMax * sizeof(int));

void take_descriptors(msghdr& message, std::vector<io::Fd>& out) {
    for (cmsghdr* each = CMSG_FIRSTHDR(&message); each != nullptr;
         each = CMSG_NXTHDR(&message, each)) {
        if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (each->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(each) + i * sizeof(int), sizeof fd);
            out.emplace_back(fd);
        }
    }
}

}  // namespace

Status send_packet(int socket, std::string_view text, std::span<const int> descriptors) {
    SY_ASSERT(!text.empty() && text.size() <= kPacketBytesMax);
    SY_ASSERT(descriptors.size() <= kPacketDescriptorsMax);
    iovec piece{.iov_base = const_cast<char*>(text.data()), .iov_len = text.size()};
    alignas(cmsghdr) std::array<char, kControlBytes> control{};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    if (!descriptors.empty()) {
        message.msg_control = control.data();
        message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
        cmsghdr* const head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(descriptors.size_bytes());
        std::memcpy(CMSG_DATA(head), descriptors.data(), descriptors.size_bytes());
    }
    while (::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
        if (errno != EINTR) return errno_failure("sendmsg");
    }
    return {};
}

Result<Packet> receive_packet(int socket) {
    Packet packet;
    packet.text.resize(kPacketBytesMax);
    iovec piece{.iov_base = packet.text.data(), .iov_len = packet.text.size()};
    alignas(cmsghdr) std::array<char, kControlBytes> control{};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    ssize_t got = 0;
    while ((got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC)) < 0) {
        if (errno != EINTR) return errno_failure("recvmsg");
    }
    if (got == 0) return fail(Errc::Unreachable, "the other end has closed");
    packet.text.resize(static_cast<std::size_t>(got));
    take_descriptors(message, packet.descriptors);
    return packet;
}

}  // namespace switchyard::os
