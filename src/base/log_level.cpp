#include "base/log_level.hpp"

#include <algorithm>
#include <iterator>

#include "base/text.hpp"

namespace switchyard {
namespace {

constexpr std::string_view kNames[] = {"quiet", "fatal",  "error",  "info",   "verbose",
                                       "debug", "debug2", "debug3", "debug4", "debug5"};

}  // namespace

std::optional<std::uint32_t> parse_log_level(std::string_view text) {
    for (std::uint32_t i = 0; i < std::size(kNames); ++i) {
        if (equals_ignoring_case(kNames[i], text)) return i;
    }
    const auto number = parse_uint(text);
    if (!number || *number > kLogLast) return std::nullopt;
    return static_cast<std::uint32_t>(*number);
}

std::string_view log_level_name(std::uint32_t level) { return kNames[std::min(level, kLogLast)]; }

}  // namespace switchyard
