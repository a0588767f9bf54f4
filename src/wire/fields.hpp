// fields.hpp: an encoded message field by field, without decoding what is inside: its number, its
// kind and its bytes. For what is too long, or comes too often, to be read into a message.
#pragma once

#include <cstdint>
#include <string_view>

namespace switchyard::wire {

struct Field {
    std::uint32_t number = 0;
    bool is_bytes = false;     // Text, bytes or a message: `value` is what it holds.
    std::uint64_t varint = 0;  // Of a number, unless it is of fixed size.
    std::string_view value;
    std::string_view whole;  // With its number and length.
};

class Fields {
  public:
    explicit Fields(std::string_view message)
        : at_(message.data()), end_(message.data() + message.size()) {}

    // False at the end, and where something is malformed: ok() tells which.
    bool next(Field& field) {
        const char* at = at_;
        std::uint64_t tag = 0, size = 0;
        if (!read(at, tag)) return false;
        field.number = static_cast<std::uint32_t>(tag >> 3);
        field.is_bytes = (tag & 7) == kBytes;
        switch (tag & 7) {
            case kVarint:
                if (!read(at, field.varint)) return false;
                break;
            case kFixed64:
                size = 8;
                break;
            case kBytes:
                if (!read(at, size)) return false;
                break;
            case kFixed32:
                size = 4;
                break;
            default:
                return false;
        }
        if (size > static_cast<std::uint64_t>(end_ - at)) return false;
        field.value = {at, static_cast<std::size_t>(size)};
        at += size;
        field.whole = {at_, static_cast<std::size_t>(at - at_)};
        at_ = at;
        return true;
    }
    bool ok() const { return at_ == end_; }

  private:
    enum Kind : std::uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

    // Nearly all of them are one byte.
    bool read(const char*& at, std::uint64_t& value) const {
        if (at == end_) return false;
        const auto byte = static_cast<unsigned char>(*at);
        if (byte >= 0x80) return read_long(at, value);
        value = byte;
        ++at;
        return true;
    }
    bool read_long(const char*& at, std::uint64_t& value) const {
        value = 0;
        for (int shift = 0; at != end_ && shift < 70; shift += 7) {
            const auto byte = static_cast<unsigned char>(*at++);
            value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
            if (byte < 0x80) return true;
        }
        return false;
    }

    const char* at_;
    const char* end_;
};

}  // namespace switchyard::wire
