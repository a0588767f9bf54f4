// control_characters.hpp: words of a user that are given to somebody else: a program of the site, a
// log. A line break there would be a header of a letter, or a line of the log, that nobody wrote.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace switchyard {

constexpr bool is_control_character(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
}

constexpr bool has_control_characters(std::string_view text) {
    return std::ranges::any_of(text, is_control_character);
}

// The same with '?' in the place of each.
inline std::string without_control_characters(std::string_view text) {
    std::string out(text);
    std::ranges::replace_if(out, is_control_character, '?');
    return out;
}

}  // namespace switchyard
