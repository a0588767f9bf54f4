// frame_buffer.hpp: where received bytes land and frames are cut from, in place.
//
// Bytes are received straight into the buffer and a frame is handed out as a view of it; the only
// copying is of the unfinished frame at the end when room is needed. The buffer grows as bytes
// really arrive: a peer that announces 64 MiB and sends nothing costs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/limits.hpp"
#include "base/result.hpp"
#include "wire/greeting.hpp"

namespace switchyard::wire {

inline constexpr std::size_t kFrameHeaderBytes = 4;

// The header of a frame of `size` bytes, appended to `out`.
void append_frame_header(std::string& out, std::size_t size);

class FrameBuffer {
  public:
    // What comes first must be the greeting that this side of the protocol hears.
    explicit FrameBuffer(const Protocol& protocol)
        : protocol_(protocol), greeted_(protocol.hears.empty()) {}

    // Where to receive into; never empty. Invalidates the views that next() returned.
    std::span<char> space();
    void commit(std::size_t bytes);
    // The next complete frame; none when more bytes are needed. InvalidArgument: the peer announced
    // more than the limit. ProtocolVersion: it does not speak our protocol at all.
    Result<std::optional<std::string_view>> next();
    // Of the frames to come, and the one that has begun.
    void limit_frames(std::size_t bytes_max) { frame_bytes_max_ = bytes_max; }
    // The memory that a frame holds of which the end has not come; nothing when there is none.
    std::size_t unfinished_bytes() const { return ends_inside_frame() ? capacity_ : 0; }
    // Gives memory back, if nothing is in it.
    void release();
    // Whether the bytes at hand end inside a frame.
    bool ends_inside_frame() const { return begin_ != end_; }

  private:
    void reserve(std::size_t capacity);
    Status hear_greeting();
    std::size_t frame_size() const;  // Of the frame at begin_, whose header is complete.

    Protocol protocol_;
    bool greeted_;
    std::size_t frame_bytes_max_ = limits::kFrameBytesMax;
    std::unique_ptr<char[]> bytes_;
    std::size_t capacity_ = 0, begin_ = 0, end_ = 0;
    bool filled_ = false;  // The last receive used all the space it was given.
};

}  // namespace switchyard::wire
