// unix_address.hpp: the address of a unix socket, also where its path is longer than the 107 bytes
// that fit.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <string>

#include "base/result.hpp"
#include "io/fd.hpp"

namespace switchyard::wire {

// Valid while it lives: a long path is reached as /proc/self/fd/N/name through its open folder.
struct UnixAddress {
    sockaddr_un address{};
    socklen_t size = 0;
    io::Fd folder;

    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};
Result<UnixAddress> unix_address(const std::string& path);

}  // namespace switchyard::wire
