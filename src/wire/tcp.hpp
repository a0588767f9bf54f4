// tcp.hpp: what every TCP connection of ours is set to, and how its peer is named.
#pragma once

#include <string>

namespace switchyard::wire {

// Small messages leave at once; a peer that vanished without a word is noticed within half a
// minute.
void tune_tcp(int socket);
// "10.0.0.2", "fd00::2"; an IPv4 peer of an IPv6 socket by its IPv4 address. Empty if there is
// none.
std::string tcp_peer_address(int socket);

}  // namespace switchyard::wire
