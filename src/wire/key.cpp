#include "wire/key.hpp"

#include <sys/random.h>

#include <cerrno>

#include "base/assert.hpp"

namespace switchyard::wire {

std::string random_bytes(std::size_t count) {
    std::string bytes(count, '\0');
    for (std::size_t have = 0; have < count;) {
        const ssize_t got = ::getrandom(bytes.data() + have, count - have, 0);
        SY_ASSERT(got > 0 || errno == EINTR);
        if (got > 0) have += static_cast<std::size_t>(got);
    }
    return bytes;
}

bool same_secret(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    volatile unsigned char difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        difference = static_cast<unsigned char>(
            difference | (static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i])));
    }
    return difference == 0;
}

std::string stepd_proof(std::string_view key) { return std::string(key.substr(0, key.size() / 2)); }
std::string srun_proof(std::string_view key) { return std::string(key.substr(key.size() / 2)); }

std::string to_hex(std::string_view bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (const char each : bytes) {
        const auto byte = static_cast<unsigned char>(each);
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

std::optional<std::string> from_hex(std::string_view text) {
    const auto digit = [](char c) {
        if (c >= '0' && c <= '9') return c - '0';
        if (c >= 'a' && c <= 'f') return c - 'a' + 10;
        if (c >= 'A' && c <= 'F') return c - 'A' + 10;
        return -1;
    };
    if (text.size() % 2 != 0) return std::nullopt;
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); i += 2) {
        const int high = digit(text[i]), low = digit(text[i + 1]);
        if (high < 0 || low < 0) return std::nullopt;
        bytes += static_cast<char>(high * 16 + low);
    }
    return bytes;
}

}  // namespace switchyard::wire
