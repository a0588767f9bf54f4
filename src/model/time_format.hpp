// time_format.hpp: time limits, durations and moments as people write and read them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"

namespace switchyard::model {

// A time limit: a number of seconds, or no limit at all.
struct TimeLimit {
    Seconds seconds{0};
    bool unlimited = false;

    static TimeLimit infinite() { return {Seconds{0}, true}; }
    bool operator==(const TimeLimit&) const = default;
};
bool operator<(const TimeLimit& a, const TimeLimit& b);

// "30" (minutes), "30:15" (minutes:seconds), "2:00:00", "1-12" (days-hours), "1-12:30",
// "1-12:30:00", "infinite", "unlimited", "-1". Seconds are kept; a limit of zero means unlimited to
// `--time`, which the caller decides.
Result<TimeLimit> parse_time_limit(std::string_view text);

std::string format_limit(const TimeLimit& limit);  // "1-00:00:00", "00:10:00", "UNLIMITED"
std::string format_duration(Seconds duration);     // "00:01:06", "1-00:00:00"
std::string format_duration_short(
    Seconds duration);  // squeue's: "1:06", "10:00", "1:00:00", "2-03:00:00"
std::string format_limit_short(const TimeLimit& limit);  // the same, or "UNLIMITED"

// Moments, in local time: "2026-11-15T01:42:11"; none is "Unknown", "N/A" and so on, by the caller.
// SLURM_TIME_FORMAT ("standard", "relative" or a strftime pattern) is given by the caller, empty
// for standard. "relative" needs to be told `now`; without it the standard form is used.
std::string format_instant(Instant instant, std::string_view time_format = {},
                           std::optional<Instant> now = std::nullopt);
// As in "[2026-11-15T01:43:52.181]": with milliseconds.
std::string format_instant_millis(Instant instant);

// "now", "now+1hour", "now-2days", "today", "tomorrow", "midnight", "noon", "teatime", "fika",
// "elevenses", "16:00", "16:00:30", "4pm", "010227", "01/02/27", "2027-01-02",
// "2027-01-02T16:00[:00]", "2027-01-02-16:00", "01/02-16:00". A time of day that has passed means
// tomorrow. Seconds since the epoch are "uts" + digits or ten plain digits.
Result<Instant> parse_instant(std::string_view text, Instant now);

}  // namespace switchyard::model
