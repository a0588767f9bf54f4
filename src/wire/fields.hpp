// fields.hpp: an encoded message field by field, without decoding what is inside: its number, its
// kind and its bytes. For what is too long, or comes too often, to be read into a message.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace switchyard::wire {

struct Field {
    std::uint32_t number = 0;
    bool is_bytes = false;     // Text, bytes or a message: `value` is what it holds.
    std::uint64_t varint = 0;  // Of a number, unless it is of fixed size; else no matter.
    std::string_view value;
    std::string_view whole;  // With its number and length.
};

class Fields {
  public:
    explicit Fields(std::string_view message)
        : at_(message.data()), end_(message.data() + message.size()) {}

    // False at the end, and where something is malformed: ok() tells which. Always a part of the
    // loop that asks, so that what this does not look at is not worked out, and the rest needs no
    // memory.
    [[gnu::always_inline]] bool next(Field& field) {
        const Varint tag = read(at_, end_);
        if (tag.end == nullptr) return false;
        field.number = static_cast<std::uint32_t>(tag.value >> 3);
        Varint then{.value = 0, .end = tag.end};
        std::size_t size = 0;
        const auto kind = tag.value & 7;
        field.is_bytes = kind == kBytes;
        // Which of these two it is cannot be foreseen, so it is no branch.
        if (kind == kVarint || kind == kBytes) {
            then = read(tag.end, end_);
            field.varint = then.value;
            size = field.is_bytes ? static_cast<std::size_t>(then.value) : 0;
        } else if (kind == kFixed64) {
            size = 8;
        } else if (kind == kFixed32) {
            size = 4;
        } else {
            return false;
        }
        if (then.end == nullptr || size > static_cast<std::size_t>(end_ - then.end)) return false;
        field.value = {then.end, size};
        field.whole = {at_, static_cast<std::size_t>(then.end + size - at_)};
        at_ = then.end + size;
        return true;
    }
    bool ok() const { return at_ == end_; }

  private:
    enum Kind : std::uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

    struct Varint {
        std::uint64_t value;
        const char* end;  // Null: it is malformed.
    };

    // Nearly all of them are one byte.
    [[gnu::always_inline]] static Varint read(const char* at, const char* end) {
        if (at == end) return {0, nullptr};
        const auto byte = static_cast<unsigned char>(*at);
        return byte < 0x80 ? Varint{byte, at + 1} : read_long(at, end);
    }
    // Seven bits a byte, the lowest first; the last byte is the one without its highest bit.
    [[gnu::noinline]] static Varint read_long(const char* at, const char* end) {
        if (end - at >= 2 && static_cast<unsigned char>(at[1]) < 0x80) {
            const auto low = static_cast<unsigned char>(at[0]),
                       high = static_cast<unsigned char>(at[1]);
            return {(low & 0x7fu) | std::uint64_t{high} << 7, at + 2};
        }
        if (std::endian::native == std::endian::little && end - at >= 8) {
            std::uint64_t bits = 0;
            std::memcpy(&bits, at, sizeof bits);
            const std::uint64_t ends = ~bits & 0x8080808080808080;
            if (ends != 0) {
                bits &= (ends ^ (ends - 1)) & 0x7f7f7f7f7f7f7f7f;
                bits = (bits & 0x007f007f007f007f) | (bits & 0x7f007f007f007f00) >> 1;
                bits = (bits & 0x00003fff00003fff) | (bits & 0x3fff00003fff0000) >> 2;
                bits = (bits & 0x000000000fffffff) | (bits & 0x0fffffff00000000) >> 4;
                return {bits, at + (std::countr_zero(ends) + 1) / 8};
            }
        }
        // The longest ones, and those at the end of the message.
        std::uint64_t value = 0;
        for (int shift = 0; at != end && shift < 70; shift += 7) {
            const auto byte = static_cast<unsigned char>(*at++);
            value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
            if (byte < 0x80) return {value, at};
        }
        return {0, nullptr};
    }

    const char* at_;
    const char* end_;
};

}  // namespace switchyard::wire
