// stream.hpp: bytes over a connected socket, plain or encrypted, without blocking. Channels are
// built on it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "io/fd.hpp"
#include "wire/channel.hpp"

namespace switchyard::wire {

struct Transfer {
    enum class Kind { Done, Again, End, Failed };
    Kind kind = Kind::Done;
    std::size_t bytes = 0;
    std::string error{};  // For Failed.
};

class Stream {
  public:
    virtual ~Stream() = default;
    virtual int fd() const = 0;
    // Until it is Done nothing can be read or written.
    virtual Transfer handshake() = 0;
    virtual Transfer read(std::span<char> into) = 0;
    virtual Transfer write(std::string_view bytes) = 0;
    virtual bool wants_write() const = 0;  // To make progress, although nobody wrote.
    // Whether a read of fewer bytes than asked for means that the socket has no more for now.
    virtual bool drained_by_short_read() const = 0;
    virtual void say_goodbye() = 0;  // Best effort, before closing.
    virtual Result<PeerCredentials> peer() const = 0;
    virtual std::string peer_address() const = 0;
};

enum class TlsRole { Client, Server };

std::unique_ptr<Stream> make_plain_stream(io::Fd socket);
// The identity of `key` is sent in the clear. Starts OpenSSL on first use.
std::unique_ptr<Stream> make_tls_stream(io::Fd socket, PresharedKey key, TlsRole role);

// A channel over a stream that is connected but whose handshake is still to be made.
std::unique_ptr<Channel> make_channel(io::Loop& loop, std::unique_ptr<Stream> stream,
                                      const Protocol& protocol, Channel::Handlers handlers);

}  // namespace switchyard::wire
