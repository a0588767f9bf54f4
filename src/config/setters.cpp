#include "config/setters.hpp"

#include <fmt/core.h>

namespace switchyard::config {

Result<bool> parse_flag(std::string_view value) {
    for (const std::string_view yes : {"yes", "up", "true", "1"}) {
        if (equals_ignoring_case(value, yes)) return true;
    }
    for (const std::string_view no : {"no", "down", "false", "0"}) {
        if (equals_ignoring_case(value, no)) return false;
    }
    return fail(Errc::InvalidArgument, fmt::format("\"{}\" is neither YES nor NO", value));
}

Result<std::uint64_t> parse_number(std::string_view value, std::uint64_t max) {
    const auto number = parse_uint(value);
    if (!number) return fail(Errc::InvalidArgument, fmt::format("\"{}\" is not a number", value));
    if (*number > max) {
        return fail(Errc::InvalidArgument, fmt::format("{} is more than {}", value, max));
    }
    return *number;
}

bool is_unlimited(std::string_view value) {
    return equals_ignoring_case(value, "unlimited") || equals_ignoring_case(value, "infinite");
}

Result<Seconds> parse_seconds(std::string_view value) {
    if (is_unlimited(value)) return Seconds{INT32_MAX};
    SY_TRY(const std::uint64_t number, parse_number(value, INT32_MAX));
    return Seconds{static_cast<std::int64_t>(number)};
}

Result<std::optional<std::uint32_t>> parse_number_or_unlimited(std::string_view value) {
    if (is_unlimited(value)) return std::optional<std::uint32_t>();
    SY_TRY(const std::uint64_t number, parse_number(value, UINT32_MAX));
    return std::optional<std::uint32_t>(static_cast<std::uint32_t>(number));
}

std::vector<std::string> parse_list(std::string_view value) {
    std::vector<std::string> out;
    if (equals_ignoring_case(value, "all")) return out;
    for (const std::string_view piece : split(value, ',')) {
        if (const std::string_view word = trim(piece); !word.empty()) out.emplace_back(word);
    }
    return out;
}

std::string unused_key_text(std::string_view key, std::string_view note) {
    if (note.empty()) return fmt::format("{} is not supported and has no effect", key);
    return fmt::format("{} has no effect: {}", key, note);
}

std::string unknown_key_text(std::string_view key, std::string_view of) {
    return fmt::format("{} is not a key of {}; it has no effect", key, of);
}

}  // namespace switchyard::config
