// descriptors.hpp: handing open descriptors to another process over a unix socket of packets.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "io/fd.hpp"

namespace switchyard::os {

struct Packet {
    std::string text;
    std::vector<io::Fd> descriptors;
};

inline constexpr std::size_t kPacketBytesMax = 8192;
inline constexpr std::size_t kPacketDescriptorsMax = 4;

// Whole or not at all; never waits, never raises SIGPIPE. `text` must not be empty.
Status send_packet(int socket, std::string_view text, std::span<const int> descriptors = {});

// Waits for one (unless the socket does not wait); Unreachable when the other end has closed.
Result<Packet> receive_packet(int socket);

}  // namespace switchyard::os
