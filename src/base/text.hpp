// text.hpp: the few operations on text that every room needs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchyard {

// The pieces between separators; an empty text has no pieces, "a,,b" has three.
std::vector<std::string_view> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);
std::string to_lower(std::string_view text);
bool equals_ignoring_case(std::string_view a, std::string_view b);
bool starts_with_ignoring_case(std::string_view text, std::string_view prefix);
std::string join(const std::vector<std::string>& pieces, std::string_view separator);

// A whole decimal number and nothing else; no sign for the unsigned form, no overflow.
std::optional<std::uint64_t> parse_uint(std::string_view text);
std::optional<std::int64_t> parse_int(std::string_view text);

}  // namespace switchyard
