#include "view/table/order_key.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "base/append_in_place.hpp"

static_assert(std::endian::native == std::endian::little);

namespace switchyard::view {

void OrderKey::add(std::string_view bytes, bool descending) {
    const std::size_t before = bytes_.size();
    bytes_ += bytes;
    if (!descending) return;
    for (char& c : std::span(bytes_).subspan(before)) c = static_cast<char>(~c);
}

void OrderKey::add_number(std::int64_t number, bool descending) {
    // How many bytes it has, less than none of a negative one, and those, the highest first: so
    // bytes order as numbers do. What descends is written as its complement.
    const std::uint64_t value = static_cast<std::uint64_t>(number);
    const auto bits = static_cast<unsigned>(std::bit_width(number < 0 ? ~value : value));
    const unsigned size = (bits + 7) / 8;
    const std::uint64_t flipped = descending ? ~std::uint64_t{0} : 0;
    const auto head = static_cast<char>((number < 0 ? 0x7fu - size : 0x80u + size) ^ flipped);
    const std::uint64_t highest_first =
        size == 0 ? 0 : std::byteswap((value ^ flipped) << (64 - 8 * size));
    append_in_place(bytes_, 1 + sizeof value, [&](char* at) {
        *at = head;
        std::memcpy(at + 1, &highest_first, sizeof highest_first);
        return at + 1 + size;
    });
}

void OrderKey::add_text(std::string_view text, bool descending) {
    add(text, descending);
    bytes_ += descending ? '\xff' : '\0';  // A prefix comes before what it begins.
}

void OrderKey::add_host(std::string_view host, bool descending) {
    std::string bytes;
    for (std::size_t i = 0; i < host.size();) {
        if (host[i] < '0' || host[i] > '9') {
            bytes += host[i++];
            continue;
        }
        std::size_t end = i;
        while (end < host.size() && host[end] >= '0' && host[end] <= '9') ++end;
        std::string_view digits = host.substr(i, end - i);
        digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
        bytes += '0';
        bytes +=
            static_cast<char>(std::min<std::size_t>(digits.size(), 255));  // Longer is greater.
        bytes += digits;
        i = end;
    }
    add_text(bytes, descending);
}

void OrderKey::add_value(std::string_view text, bool descending) {
    std::int64_t number = 0;
    for (const char c : text) {
        if (c < '0' || c > '9' || number > 1'000'000'000'000) break;
        number = number * 10 + (c - '0');
    }
    add_number(number, descending);
    add_host(text, descending);
}

}  // namespace switchyard::view
