#include "pmi/key_values.hpp"

#include <cstdint>
#include <optional>

namespace switchyard::pmi {
namespace {

constexpr std::size_t kLengthBytes = 4;

void append(std::string& out, std::string_view text) {
    for (std::size_t i = 0; i < kLengthBytes; ++i) {
        out += static_cast<char>((text.size() >> (8 * i)) & 0xff);
    }
    out += text;
}

std::optional<std::string_view> take(std::string_view& bytes) {
    if (bytes.size() < kLengthBytes) return std::nullopt;
    std::size_t size = 0;
    for (std::size_t i = 0; i < kLengthBytes; ++i) {
        size |= std::size_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    }
    bytes.remove_prefix(kLengthBytes);
    if (bytes.size() < size) return std::nullopt;
    const std::string_view text = bytes.substr(0, size);
    bytes.remove_prefix(size);
    return text;
}

}  // namespace

std::string encode(const KeyValues& pairs) {
    std::string out;
    for (const auto& [key, value] : pairs) {
        append(out, key);
        append(out, value);
    }
    return out;
}

Status decode_into(std::string_view bytes, KeyValues& pairs) {
    while (!bytes.empty()) {
        const auto key = take(bytes);
        const auto value = key ? take(bytes) : std::nullopt;
        if (!value) return fail(Errc::InvalidArgument, "malformed key-value pairs");
        pairs.insert_or_assign(std::string(*key), std::string(*value));
    }
    return {};
}

}  // namespace switchyard::pmi
