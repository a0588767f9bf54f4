#include "cli/format/order_key.hpp"

#include <algorithm>
#include <span>

namespace switchyard::cli::format {

void OrderKey::add(std::string_view bytes, bool descending) {
    const std::size_t before = bytes_.size();
    bytes_ += bytes;
    if (!descending) return;
    for (char& c : std::span(bytes_).subspan(before)) c = static_cast<char>(~c);
}

void OrderKey::add_number(std::int64_t number, bool descending) {
    // Big-endian with the sign bit turned, so that bytes order as numbers do.
    const std::uint64_t ordered = static_cast<std::uint64_t>(number) ^ (std::uint64_t{1} << 63);
    char bytes[sizeof ordered];
    for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(ordered >> (56 - 8 * i));
    add({bytes, sizeof bytes}, descending);
}

void OrderKey::add_text(std::string_view text, bool descending) {
    add(text, descending);
    add(std::string_view("\0", 1), descending);  // A prefix comes before what it begins.
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

}  // namespace switchyard::cli::format
