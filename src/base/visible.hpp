// visible.hpp: texts of users as they may be shown. Names, comments and paths are whatever bytes
// somebody typed; printed as they are they would move the cursor, colour the screen or add lines
// and columns of their own.
//
// What a terminal or a reader of lines would act on (control characters, also those of Unicode,
// line separators, marks that turn the direction of writing) is written as the octal number of each
// byte, "\012", as in /proc/mounts. A backslash is "\134" where it would read as such a number, so
// that every text has one form and can be had back from it; all other texts stand as they are.
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

// For programs of the site, with '?' in the place of each: a line break there would be a header of
// a mail that nobody wrote. Not as octal numbers, which the echo of some shells turns back.
std::string without_control_characters(std::string_view text);

// Nothing but blanks and printable ASCII without backslashes: it is shown as it is. Quick, so that
// long lists can ask for every line.
bool is_plain(std::string_view text);

// `also`: further characters that would mean something where the text is put ("|").
std::string visible(std::string_view text, std::string_view also = {});
// For messages of several lines: newlines and tabs stay.
std::string visible_lines(std::string_view text);

}  // namespace switchyard
