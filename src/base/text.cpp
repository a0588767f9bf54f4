#include "base/text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace switchyard {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> pieces;
    while (!text.empty()) {
        const std::size_t end = text.find(separator);
        pieces.push_back(text.substr(0, end));
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
        if (text.empty()) pieces.emplace_back();
    }
    return pieces;
}

std::string_view trim(std::string_view text) {
    constexpr std::string_view kBlank = " \t\r\n\f\v";
    const std::size_t begin = text.find_first_not_of(kBlank);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::string to_lower(std::string_view text) {
    std::string out(text);
    std::ranges::transform(out, out.begin(), lower);
    return out;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, {}, lower, lower);
}

bool starts_with_ignoring_case(std::string_view text, std::string_view prefix) {
    return text.size() >= prefix.size() &&
           equals_ignoring_case(text.substr(0, prefix.size()), prefix);
}

std::string join(const std::vector<std::string>& pieces, std::string_view separator) {
    std::string out;
    for (const std::string& piece : pieces) {
        if (!out.empty() || &piece != pieces.data()) out += separator;
        out += piece;
    }
    return out;
}

std::optional<std::uint64_t> parse_uint(std::string_view text) {
    return parse_number<std::uint64_t>(text);
}
std::optional<std::int64_t> parse_int(std::string_view text) {
    return parse_number<std::int64_t>(text);
}

}  // namespace switchyard
