#include "model/cron.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <span>
#include <vector>

#include "base/text.hpp"

namespace switchyard::model {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {"jan", "feb", "mar", "apr", "may", "jun",
                                                      "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kWeekdays = {"sun", "mon", "tue", "wed",
                                                       "thu", "fri", "sat"};

struct Field {
    std::string_view name;
    std::uint32_t least, most;
    std::span<const std::string_view> words = {};  // Names of the numbers from `least` on.
};
constexpr Field kFields[] = {{"minute", 0, 59, {}},
                             {"hour", 0, 23, {}},
                             {"day of month", 1, 31, {}},
                             {"month", 1, 12, kMonths},
                             {"day of week", 0, 7, kWeekdays}};

struct Nickname {
    std::string_view name, time;
};
constexpr Nickname kNicknames[] = {{"@yearly", "0 0 1 1 *"},  {"@annually", "0 0 1 1 *"},
                                   {"@monthly", "0 0 1 * *"}, {"@weekly", "0 0 * * 0"},
                                   {"@daily", "0 0 * * *"},   {"@midnight", "0 0 * * *"},
                                   {"@hourly", "0 * * * *"},  {"@elevenses", "0 11 * * *"},
                                   {"@fika", "0 15 * * *"},   {"@teatime", "0 16 * * *"}};

std::optional<std::uint32_t> number_of(std::string_view text, const Field& field) {
    for (std::size_t i = 0; i < field.words.size(); ++i) {
        if (equals_ignoring_case(text, field.words[i]))
            return field.least + static_cast<std::uint32_t>(i);
    }
    const auto number = parse_uint(text);
    if (!number || *number < field.least || *number > field.most) return std::nullopt;
    return static_cast<std::uint32_t>(*number);
}

// "*", "*/5", "1-5", "1-30/2", "7": the bits of one piece of a list.
std::optional<std::uint64_t> bits_of(std::string_view piece, const Field& field) {
    const std::size_t slash = piece.find('/');
    std::uint64_t step = 1;
    if (slash != std::string_view::npos) {
        const auto given = parse_uint(piece.substr(slash + 1));
        if (!given || *given == 0) return std::nullopt;
        step = *given;
    }
    const std::string_view range = piece.substr(0, slash);
    const std::size_t dash = range.find('-');
    std::optional<std::uint32_t> first = field.least, last = field.most;
    if (range != "*") {
        first = number_of(range.substr(0, dash), field);
        last = dash == std::string_view::npos ? first : number_of(range.substr(dash + 1), field);
        // "5/10" goes on to the end.
        if (dash == std::string_view::npos && slash != std::string_view::npos) last = field.most;
    }
    if (!first || !last || *first > *last) return std::nullopt;
    std::uint64_t bits = 0;
    for (std::uint64_t n = *first; n <= *last; n += step) bits |= std::uint64_t{1} << n;
    return bits;
}

Result<std::uint64_t> parse_field(std::string_view text, const Field& field) {
    std::uint64_t bits = 0;
    for (const std::string_view piece : split(text, ',')) {
        const auto more = bits_of(piece, field);
        if (!more)
            return fail(Errc::InvalidArgument, fmt::format("bad {}: \"{}\"", field.name, text));
        bits |= *more;
    }
    return bits;
}

std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    std::size_t at = 0;
    while ((at = text.find_first_not_of(" \t", at)) != std::string_view::npos) {
        const std::size_t end = std::min(text.find_first_of(" \t", at), text.size());
        words.push_back(text.substr(at, end - at));
        at = end;
    }
    return words;
}

bool day_fits(const CronTime& cron, const std::tm& day) {
    const bool date = (cron.days >> day.tm_mday & 1) != 0;
    const bool weekday = (cron.weekdays >> day.tm_wday & 1) != 0;
    if (cron.any_day || cron.any_weekday) return date && weekday;
    return date || weekday;
}

}  // namespace

std::size_t cron_word_count(std::string_view line) { return trim(line).starts_with('@') ? 1 : 5; }

Result<CronTime> parse_cron(std::string_view text) {
    text = trim(text);
    if (text.starts_with('@')) {
        const auto found = std::ranges::find_if(kNicknames, [&](const Nickname& each) {
            return equals_ignoring_case(each.name, text);
        });
        if (found == std::end(kNicknames))
            return fail(Errc::InvalidArgument, fmt::format("unknown time \"{}\"", text));
        text = found->time;
    }
    const std::vector<std::string_view> words = words_of(text);
    if (words.size() != 5)
        return fail(Errc::InvalidArgument, "a time is minute, hour, day, month and weekday");
    CronTime cron;
    SY_TRY(cron.minutes, parse_field(words[0], kFields[0]));
    SY_TRY(const std::uint64_t hours, parse_field(words[1], kFields[1]));
    SY_TRY(const std::uint64_t days, parse_field(words[2], kFields[2]));
    SY_TRY(const std::uint64_t months, parse_field(words[3], kFields[3]));
    SY_TRY(const std::uint64_t weekdays, parse_field(words[4], kFields[4]));
    cron.hours = static_cast<std::uint32_t>(hours);
    cron.days = static_cast<std::uint32_t>(days);
    cron.months = static_cast<std::uint32_t>(months);
    // Sunday is 0 and 7.
    cron.weekdays = static_cast<std::uint32_t>((weekdays | weekdays >> 7) & 0x7f);
    cron.any_day = words[2].starts_with('*');
    cron.any_weekday = words[4].starts_with('*');
    return cron;
}

std::optional<Instant> next_after(const CronTime& cron, Instant now) {
    constexpr int kDaysMax = 366 * 9;  // A 29th of February may be eight years away.
    const std::time_t start = static_cast<std::time_t>(unix_seconds(now)) + 60;
    std::tm local{};
    if (::localtime_r(&start, &local) == nullptr) return std::nullopt;
    local.tm_sec = 0;
    int hour = local.tm_hour, minute = local.tm_min;
    for (int day = 0; day < kDaysMax; ++day, hour = minute = 0) {
        std::tm at = local;
        at.tm_mday += day;
        at.tm_hour = 12;
        at.tm_min = 0;
        at.tm_isdst = -1;
        if (::mktime(&at) == -1) return std::nullopt;
        if ((cron.months >> (at.tm_mon + 1) & 1) == 0 || !day_fits(cron, at)) continue;
        for (; hour < 24; ++hour, minute = 0) {
            if ((cron.hours >> hour & 1) == 0) continue;
            for (; minute < 60; ++minute) {
                if ((cron.minutes >> minute & 1) == 0) continue;
                std::tm found = at;
                found.tm_hour = hour;
                found.tm_min = minute;
                found.tm_isdst = -1;
                const std::time_t seconds = ::mktime(&found);
                // An hour that the clock skips is not there.
                if (seconds > static_cast<std::time_t>(unix_seconds(now)) &&
                    found.tm_hour == hour && found.tm_min == minute)
                    return from_unix_seconds(seconds);
            }
        }
    }
    return std::nullopt;
}

}  // namespace switchyard::model
