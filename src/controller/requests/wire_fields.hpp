// wire_fields.hpp: encoded messages taken apart and put together by their fields (wire/fields.hpp).
// So a script of megabytes travels from its user to the store and on to the node as the bytes it
// came in.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/append_in_place.hpp"
#include "base/result.hpp"

namespace switchyard::controller {

inline constexpr std::size_t kFieldHeadBytesMax = 16;  // A tag and a length.

inline char* put_varint(char* out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) *out++ = static_cast<char>((value & 0x7f) | 0x80);
    *out++ = static_cast<char>(value);
    return out;
}

// The tag of a field that has a length: text, bytes or a message.
inline char* put_bytes_tag(char* out, std::uint32_t number) {
    return put_varint(out, number << 3 | 2);
}

void append_field_head(std::string& out, std::uint32_t number, std::size_t size);

// A field whose length is known when it is written: `put` is given where to write, and returns
// where it ended. Returns where the field ends.
template <class Put>
char* put_field(char* out, std::uint32_t number, Put put) {
    char* const size = put_bytes_tag(out, number);
    char* const inside = size + 1;  // What is long is moved.
    const auto written = static_cast<std::size_t>(put(inside) - inside);
    if (written < 0x80) {
        *size = static_cast<char>(written);
        return inside + written;
    }
    char length[kFieldHeadBytesMax];
    const auto length_bytes = static_cast<std::size_t>(put_varint(length, written) - length);
    std::memmove(size + length_bytes, inside, written);
    std::memcpy(size, length, length_bytes);
    return size + length_bytes + written;
}

// Such a field, of at most `bytes_max`, at the end of `out`.
template <class Put>
void append_field(std::string& out, std::uint32_t number, std::size_t bytes_max, Put put) {
    append_in_place(out, kFieldHeadBytesMax + bytes_max,
                    [&](char* at) { return put_field(at, number, put); });
}

// A submission without its bulky part, and that part. None for all other requests, and for what is
// malformed.
struct SplitSubmission {
    std::string request;
    std::string_view payload;
};
std::optional<SplitSubmission> split_submission(std::string_view request);

// What the limits are about, of an encoded JobPayload. None: it is malformed.
struct PayloadSizes {
    std::size_t script = 0;
    std::size_t environment = 0;  // And arguments.
};
std::optional<PayloadSizes> measure_payload(std::string_view payload);

}  // namespace switchyard::controller
