#include "base/utf8.hpp"

namespace switchyard {
namespace {

unsigned char byte_at(std::string_view text, std::size_t at) {
    return static_cast<unsigned char>(text[at]);
}

bool is_continuation(unsigned char byte) { return (byte & 0xc0) == 0x80; }

}  // namespace

Character character_at(std::string_view text, std::size_t at) {
    const unsigned char first = byte_at(text, at);
    if (first < 0x80) return {.bytes = 1, .code = first};
    const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    const bool can_begin = first >= 0xc2 && first <= 0xf4;
    Character found{.bytes = 1, .code = first, .whole = false};
    if (!can_begin || text.size() - at < bytes) return found;
    char32_t code = first & (0xffU >> (bytes + 1));
    for (std::size_t i = 1; i < bytes; ++i) {
        const unsigned char next = byte_at(text, at + i);
        if (!is_continuation(next)) return found;
        code = (code << 6) | (next & 0x3fU);
    }
    return {.bytes = bytes, .code = code};
}

}  // namespace switchyard
