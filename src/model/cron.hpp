// cron.hpp: times as crontab(5) writes them: minute, hour, day of the month, month, day of the
// week.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"

namespace switchyard::model {

// Bits of the numbers that fit.
struct CronTime {
    std::uint64_t minutes = 0;
    std::uint32_t hours = 0, days = 0, months = 0, weekdays = 0;
    // Of day and weekday both count alone where one of them is '*'; else either will do.
    bool any_day = false, any_weekday = false;
    bool operator==(const CronTime&) const = default;
};

// "*/5 8-18 * * mon-fri", "@hourly", "@daily", "@weekly", "@monthly", "@yearly". InvalidArgument
// names the field that is wrong.
Result<CronTime> parse_cron(std::string_view text);

// The first such minute after `now`, by the clock of this host. None: there is none ("0 0 31 2 *").
std::optional<Instant> next_after(const CronTime& cron, Instant now);

// How many words of a crontab line are its time: 5, or 1 for "@daily".
std::size_t cron_word_count(std::string_view line);

}  // namespace switchyard::model
