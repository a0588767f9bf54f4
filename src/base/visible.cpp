#include "base/visible.hpp"

#include <algorithm>
#include <cstddef>

#include "base/utf8.hpp"

namespace switchyard {
namespace {

constexpr std::size_t kOctalDigits = 3;

// A stray byte from 0x80 on is a control character for a terminal that knows no UTF-8; from 0xa0 on
// it is a letter there.
bool acts(const Character& character) {
    const char32_t code = character.code;
    if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return true;
    if (!character.whole) return false;
    const bool separator = code == 0x2028 || code == 0x2029;
    const bool turns = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    return separator || turns;
}

bool is_octal(char c) { return c >= '0' && c <= '7'; }

bool reads_as_number(std::string_view after_backslash) {
    if (after_backslash.size() < kOctalDigits) return false;
    for (const char c : after_backslash.substr(0, kOctalDigits)) {
        if (!is_octal(c)) return false;
    }
    return true;
}

void append_octal(std::string& out, unsigned char byte) {
    out += '\\';
    out += static_cast<char>('0' + (byte >> 6));
    out += static_cast<char>('0' + ((byte >> 3) & 7));
    out += static_cast<char>('0' + (byte & 7));
}

std::string escape(std::string_view text, std::string_view also, std::string_view except) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const Character character = character_at(text, at);
        const std::string_view bytes = text.substr(at, character.bytes);
        at += character.bytes;
        const bool is_number = bytes == "\\" && reads_as_number(text.substr(at));
        const bool hidden = (acts(character) && !except.contains(bytes)) || also.contains(bytes);
        if (!hidden && !is_number) {
            out += bytes;
            continue;
        }
        for (const char byte : bytes) append_octal(out, static_cast<unsigned char>(byte));
    }
    return out;
}

}  // namespace

std::string without_control_characters(std::string_view text) {
    std::string out(text);
    std::ranges::replace_if(out, is_control_character, '?');
    return out;
}

bool is_plain(std::string_view text) {
    // Without a way out of the middle, so that it is done for many bytes at once.
    bool other = false;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        other |= byte < 0x20 || byte >= 0x7f || byte == '\\';
    }
    return !other;
}

std::string visible(std::string_view text, std::string_view also) {
    if (also.empty() && is_plain(text)) return std::string(text);
    return escape(text, also, {});
}

std::string visible_lines(std::string_view text) {
    if (is_plain(text)) return std::string(text);
    return escape(text, {}, "\n\t");
}

}  // namespace switchyard
