#include "wire/frame_buffer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/assert.hpp"

namespace switchyard::wire {
namespace {

constexpr std::size_t kFirstBytes = 4096;  // Most connections never need more.
constexpr std::size_t kBusyBytesMax = 256u
                                      << 10;  // What a busy one grows to for fewer system calls.
constexpr std::size_t kIdleBytesMax = 1u
                                      << 20;  // Above this the memory goes back once it is empty.
constexpr std::size_t kKeptBytesMax = 4 * kFirstBytes;
constexpr std::size_t kSpaceBytesMin = 2048;

}  // namespace

void append_frame_header(std::string& out, std::size_t size) {
    char header[kFrameHeaderBytes];
    for (std::size_t i = 0; i < kFrameHeaderBytes; ++i) {
        header[i] = static_cast<char>((size >> (8 * i)) & 0xff);
    }
    out.append(header, sizeof header);
}

std::size_t FrameBuffer::frame_size() const {
    std::size_t size = 0;
    for (std::size_t i = 0; i < kFrameHeaderBytes; ++i) {
        size |= static_cast<std::size_t>(static_cast<unsigned char>(bytes_[begin_ + i])) << (8 * i);
    }
    return size;
}

std::span<char> FrameBuffer::space() {
    if (begin_ == end_) {
        begin_ = end_ = 0;
        if (capacity_ > kIdleBytesMax) release();
    }
    std::size_t wanted = std::max(capacity_, kFirstBytes);
    if (filled_) wanted = std::max(wanted, std::min(capacity_ * 4, kBusyBytesMax));
    const bool cramped = capacity_ - end_ < kSpaceBytesMin;
    if (cramped && end_ - begin_ > capacity_ / 2) {
        // One frame fills most of it. Twice what has arrived, so that copying stays in proportion
        // and a false announcement is not believed; but no more than the frame needs.
        wanted =
            std::max(wanted, std::min(2 * capacity_, capacity_ + kSpaceBytesMin + frame_size()));
    }
    if (wanted > capacity_ || cramped) reserve(wanted);
    return {bytes_.get() + end_, capacity_ - end_};
}

void FrameBuffer::reserve(std::size_t capacity) {
    const std::size_t held = end_ - begin_;
    if (capacity == capacity_) {
        if (begin_ > 0) std::memmove(bytes_.get(), bytes_.get() + begin_, held);
    } else {
        auto grown = std::make_unique_for_overwrite<char[]>(capacity);
        if (held > 0) std::memcpy(grown.get(), bytes_.get() + begin_, held);
        bytes_ = std::move(grown);
        capacity_ = capacity;
    }
    begin_ = 0;
    end_ = held;
}

void FrameBuffer::release() {
    if (begin_ != end_ || capacity_ <= kKeptBytesMax) return;
    begin_ = end_ = capacity_ = 0;
    filled_ = false;
    bytes_.reset();
}

void FrameBuffer::commit(std::size_t bytes) {
    SY_ASSERT(bytes <= capacity_ - end_);
    end_ += bytes;
    filled_ = end_ == capacity_;
}

Status FrameBuffer::hear_greeting() {
    const std::string_view held(bytes_.get() + begin_, end_ - begin_);
    SY_CHECK(check_greeting(protocol_, held));
    if (held.size() < kGreetingBytes) return {};
    begin_ += kGreetingBytes;
    greeted_ = true;
    return {};
}

Result<std::optional<std::string_view>> FrameBuffer::next() {
    if (!greeted_) SY_CHECK(hear_greeting());
    if (!greeted_) return std::optional<std::string_view>();
    const std::size_t held = end_ - begin_;
    if (held < kFrameHeaderBytes) return std::optional<std::string_view>();
    const std::size_t size = frame_size();
    if (size > frame_bytes_max_) {
        return fail(Errc::InvalidArgument,
                    fmt::format("the other side announced a message of {} bytes, the limit is {}",
                                size, frame_bytes_max_));
    }
    if (held - kFrameHeaderBytes < size) return std::optional<std::string_view>();
    const std::string_view frame(bytes_.get() + begin_ + kFrameHeaderBytes, size);
    begin_ += kFrameHeaderBytes + size;
    return std::optional<std::string_view>(frame);
}

}  // namespace switchyard::wire
