// log_level.hpp: how much a daemon logs, by the numbers and words of slurm.conf and scontrol
// setdebug: 0 quiet, 1 fatal, 2 error, 3 info, 4 verbose, 5 debug ... 9 debug5.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace switchyard {

inline constexpr std::uint32_t kLogError = 2, kLogInfo = 3, kLogVerbose = 4, kLogDebug = 5,
                               kLogLast = 9;

std::optional<std::uint32_t> parse_log_level(std::string_view text);  // "info", "3"
std::string_view log_level_name(std::uint32_t level);                 // "info"

}  // namespace switchyard
