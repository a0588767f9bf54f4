// blocking.hpp: a frame socket for programs that ask one thing and wait for the answer. No loop, no
// callbacks: one write, one read. Commands use it through src/client.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"
#include "io/fd.hpp"
#include "wire/frame_buffer.hpp"

namespace switchyard::wire {

class FrameSocket {
  public:
    // NotFound: there is no such socket; AccessDenied: we may not; Unreachable: nobody listens
    // there.
    static Result<FrameSocket> connect_unix(const std::string& path, const Protocol& protocol);
    FrameSocket(io::Fd socket, const Protocol& protocol)
        : socket_(std::move(socket)), greeting_(protocol.says), inbox_(protocol) {}

    // Returns when the kernel has it all.
    Status send(std::string_view frame);
    // The next frame, valid until the next call. Timeout when `wait` has passed (zero: only what is
    // already there); Unreachable when the other end has closed.
    Result<std::string_view> receive(std::optional<Millis> wait = std::nullopt);
    // A whole frame was already read: receive() returns at once, whatever poll says of fd().
    bool has_buffered_frame();
    int fd() const { return socket_.get(); }

  private:
    Result<std::optional<std::string_view>> buffered();

    io::Fd socket_;
    std::string_view greeting_;  // Leaves with the first frame.
    FrameBuffer inbox_;
    std::optional<std::string_view> ahead_;  // Cut by has_buffered_frame(), not yet taken.
};

}  // namespace switchyard::wire
