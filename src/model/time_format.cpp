// time_format.cpp: limits and durations. Moments are in instant_format.cpp.
#include "model/time_format.hpp"

#include <fmt/format.h>

#include <array>

#include "base/text.hpp"

namespace switchyard::model {
namespace {

// Beyond this a limit says nothing any more; it keeps all sums of seconds far from overflow.
constexpr std::uint64_t kDaysMax = 1'000'000;
constexpr std::uint64_t kDay = 86'400;

Failure invalid_limit(std::string_view text) {
    return fail(Errc::InvalidTimeLimit, fmt::format("Invalid time specification: {}", text));
}

// Up to three numbers between colons; 0 if malformed.
std::size_t parse_fields(std::string_view text, std::array<std::uint64_t, 3>& fields) {
    const auto pieces = split(text, ':');
    if (pieces.empty() || pieces.size() > fields.size()) return 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const auto value = parse_uint(pieces[i]);
        if (!value || *value > kDaysMax * kDay) return 0;
        fields[i] = *value;
    }
    return pieces.size();
}

}  // namespace

bool operator<(const TimeLimit& a, const TimeLimit& b) {
    if (a.unlimited || b.unlimited) return !a.unlimited;
    return a.seconds < b.seconds;
}

Result<TimeLimit> parse_time_limit(std::string_view text) {
    if (equals_ignoring_case(text, "infinite") || equals_ignoring_case(text, "unlimited") ||
        text == "-1") {
        return TimeLimit::infinite();
    }
    std::uint64_t days = 0;
    std::string_view rest = text;
    const std::size_t dash = text.find('-');
    if (dash != std::string_view::npos) {
        const auto value = parse_uint(text.substr(0, dash));
        if (!value || *value > kDaysMax) return invalid_limit(text);
        days = *value;
        rest = text.substr(dash + 1);
    }
    std::array<std::uint64_t, 3> fields{};
    const std::size_t count = parse_fields(rest, fields);
    if (count == 0) return invalid_limit(text);

    // Behind days the fields start at hours; alone, one is minutes, two minutes:seconds.
    std::uint64_t seconds = days * kDay;
    if (dash != std::string_view::npos || count == 3) {
        seconds += fields[0] * 3600 + fields[1] * 60 + fields[2];
    } else {
        seconds += fields[0] * 60 + fields[1];
    }
    if (seconds > kDaysMax * kDay) return invalid_limit(text);
    return TimeLimit{Seconds{static_cast<std::int64_t>(seconds)}, false};
}

std::string format_duration(Seconds duration) {
    const std::int64_t s = duration.count();
    if (s < 0) return "INVALID";
    const std::int64_t days = s / 86'400;
    const std::string clock = fmt::format("{:02}:{:02}:{:02}", s / 3600 % 24, s / 60 % 60, s % 60);
    return days > 0 ? fmt::format("{}-{}", days, clock) : clock;
}

std::string format_duration_short(Seconds duration) {
    const std::int64_t s = duration.count();
    if (s < 0) return "INVALID";
    if (s == 0) return "0:00";  // Of each job that waits, in a long list.
    if (s >= 86'400) return format_duration(duration);
    if (s >= 3600) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
    return fmt::format("{}:{:02}", s / 60, s % 60);
}

std::string format_limit(const TimeLimit& limit) {
    return limit.unlimited ? "UNLIMITED" : format_duration(limit.seconds);
}

std::string format_limit_short(const TimeLimit& limit) {
    return limit.unlimited ? "UNLIMITED" : format_duration_short(limit.seconds);
}

}  // namespace switchyard::model
