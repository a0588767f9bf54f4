// channel.hpp: frames over a stream: a unix socket, a socket pair, or TLS 1.3 with a pre-shared key
// over TCP.
//
// Each side greets (greeting.hpp) and then sends frames. A frame is a little-endian 32-bit length
// and that many bytes, one protobuf message. Channels live on an io::Loop. Callbacks may destroy
// the channel they come from. Sending never blocks: what the peer does not take is kept, up to
// limits::kOutboxBytesMax, past which the channel closes itself.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/limits.hpp"
#include "base/result.hpp"
#include "io/fd.hpp"
#include "io/loop.hpp"
#include "wire/greeting.hpp"

namespace switchyard::wire {

inline constexpr std::uint32_t kProtocol = 1;

struct PeerCredentials {
    std::uint32_t uid = 0, gid = 0;
    std::int32_t pid = 0;
};

// The cluster key or a step's one-time key, and the identity under which both sides know it.
struct PresharedKey {
    std::string identity;
    std::string key;  // 32 bytes.
};

// A sum of bytes that several channels share, such as those of one user. What is counted may be let
// go by any thread.
struct Allowance {
    Allowance(std::string what, std::size_t bytes_max)
        : what(std::move(what)), bytes_max(bytes_max) {}
    const std::string what;  // "unfinished messages of user 1001", for the one who goes over it.
    const std::size_t bytes_max;
    std::atomic<std::size_t> bytes = 0;
};
Error over(const Allowance& sum);

// What the other side may cost us. Going over it closes the channel, after `farewell`.
struct Terms {
    std::size_t frame_bytes_max = limits::kFrameBytesMax;
    std::size_t frames_per_turn_max = SIZE_MAX;  // Then the others have their turn.
    std::optional<Millis> frame_time_max{};      // From its first byte to its last, while we read.
    std::shared_ptr<Allowance> unfinished{};     // Of the frames whose end has not come.
    std::shared_ptr<Allowance> unsent{};
    // A last frame that says why.
    std::function<std::string(const Error& why)> farewell{};
};

class Channel {
  public:
    struct Handlers {
        std::function<void(std::string_view frame)> on_frame;
        std::function<void(const Error& why)> on_close;  // Once; not after close().
        std::function<void()> on_ready;  // Connected (and, with TLS, authenticated).
    };

    // Takes over a connected socket.
    static std::unique_ptr<Channel> adopt(io::Loop& loop, io::Fd socket, const Protocol& protocol,
                                          Handlers handlers);
    static std::unique_ptr<Channel> adopt_tls_server(io::Loop& loop, io::Fd socket,
                                                     const Protocol& protocol, PresharedKey key,
                                                     Handlers handlers);
    // Starts to connect; on_ready or on_close follows.
    static std::unique_ptr<Channel> connect_unix(io::Loop& loop, const std::string& path,
                                                 const Protocol& protocol, Handlers handlers);
    static std::unique_ptr<Channel> connect_tls(io::Loop& loop, const std::string& host,
                                                std::uint16_t port, const Protocol& protocol,
                                                PresharedKey key, Handlers handlers);

    virtual ~Channel() = default;
    virtual void send(
        std::string_view frame) = 0;  // Queued; several sends in one turn leave together.
    virtual std::size_t unsent_bytes() const = 0;
    // Called once when unsent_bytes() has fallen to zero.
    virtual void on_drained(std::function<void()> callback) = 0;
    virtual void pause_reading(bool paused) = 0;
    virtual void set_terms(Terms terms) = 0;
    virtual void
    close() = 0;  // Sends what is queued as far as the socket takes it now, then closes.
    virtual Result<PeerCredentials> peer() const = 0;  // Of a unix socket, by the kernel.
    virtual std::string peer_address() const = 0;      // "10.0.0.2" for TLS, "" for unix.
};

class Listener {
  public:
    using Accept = std::function<void(io::Fd socket)>;
    static Result<std::unique_ptr<Listener>> on_unix(io::Loop& loop, const std::string& path,
                                                     std::uint32_t mode, Accept accept);
    // Port 0 chooses a free one.
    static Result<std::unique_ptr<Listener>> on_tcp(io::Loop& loop, const std::string& address,
                                                    std::uint16_t port, Accept accept);
    virtual ~Listener() = default;
    virtual std::uint16_t port() const = 0;
};

}  // namespace switchyard::wire
