// instant_format.cpp: moments in local time, as --begin, sacct -S and scontrol update take them and
// as every command prints them.
//
// A moment is written as words in any order: at most one date, at most one time of day, or "now"
// with an offset. The calendar arithmetic is the C library's, because it knows the local zone and
// its clock changes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "base/text.hpp"
#include "model/time_format.hpp"

namespace switchyard::model {
namespace {

std::tm local_time(Instant instant) {
    const std::time_t seconds = unix_seconds(instant);
    std::tm out{};
    if (::localtime_r(&seconds, &out) == nullptr) out = {};
    return out;
}

std::string format_tm(const std::tm& when, const std::string& pattern) {
    std::array<char, 256> buffer{};
    const std::size_t length = std::strftime(buffer.data(), buffer.size(), pattern.c_str(), &when);
    return {buffer.data(), length};
}

// The nearer the day, the less of it needs saying.
std::string relative_pattern(const std::tm& when, const std::tm& today) {
    const auto day = [](const std::tm& t) { return (t.tm_year + 1900) * 1000 + t.tm_yday; };
    const int distance = day(when) - day(today);
    if (distance == 0) return "%H:%M:%S";
    if (distance == -1) return "Ystday %H:%M";
    if (distance == 1) return "Tomorr %H:%M";
    if (distance > 1 && distance <= 6) return "%a %H:%M";
    if (distance < -365 || distance > 365) return "%-d %b %Y";
    return "%-d %b %H:%M";
}

struct Date {
    int year;
    int month;  // 1 to 12
    int day;
    bool year_given = true;
};

struct TimeOfDay {
    int hour = 0, minute = 0, second = 0;
};

std::optional<int> small_number(std::string_view text, std::size_t digits_max = 2) {
    if (text.empty() || text.size() > digits_max) return std::nullopt;
    const auto value = parse_uint(text);
    if (!value) return std::nullopt;
    return static_cast<int>(*value);
}

bool is_valid(const Date& date) {
    const std::chrono::year_month_day day{std::chrono::year{date.year},
                                          std::chrono::month{static_cast<unsigned>(date.month)},
                                          std::chrono::day{static_cast<unsigned>(date.day)}};
    return date.year >= 1970 && date.year <= 9999 && day.ok();
}

// Cuts `count` pieces at `separator` off a word, for dates and clocks.
std::optional<std::array<int, 3>> numbers(const std::vector<std::string_view>& pieces,
                                          std::size_t first_digits = 2) {
    std::array<int, 3> out{};
    if (pieces.size() > out.size()) return std::nullopt;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const auto value = small_number(pieces[i], i == 0 ? first_digits : 2);
        if (!value) return std::nullopt;
        out[i] = *value;
    }
    return out;
}

// "2027-01-02", "01/02/27", "01/02", "01.02.27", "010227".
std::optional<Date> parse_date(std::string_view word, const std::tm& now) {
    if (word.size() == 10 && word[4] == '-' && word[7] == '-') {
        const auto n = numbers(split(word, '-'), 4);
        if (!n) return std::nullopt;
        return Date{(*n)[0], (*n)[1], (*n)[2]};
    }
    for (const char separator : {'/', '.'}) {
        const auto pieces = split(word, separator);
        if (pieces.size() < 2) continue;
        // A year of four digits is allowed in the last place.
        if (pieces.size() == 3 && pieces[2].size() == 4) {
            const auto n = numbers({pieces[2], pieces[0], pieces[1]}, 4);
            return n ? std::optional(Date{(*n)[0], (*n)[1], (*n)[2]}) : std::nullopt;
        }
        const auto n = numbers(pieces);
        if (!n) return std::nullopt;
        if (pieces.size() == 2) return Date{now.tm_year + 1900, (*n)[0], (*n)[1], false};
        return Date{2000 + (*n)[2], (*n)[0], (*n)[1]};
    }
    if (word.size() == 6) {
        const auto n = numbers({word.substr(0, 2), word.substr(2, 2), word.substr(4, 2)});
        if (n) return Date{2000 + (*n)[2], (*n)[0], (*n)[1]};
    }
    return std::nullopt;
}

// "16:00", "16:00:30", "4pm", "4:30am"; the names of the hours.
std::optional<TimeOfDay> parse_time_of_day(std::string_view word) {
    if (word == "midnight") return TimeOfDay{0};
    if (word == "elevenses") return TimeOfDay{11};
    if (word == "noon") return TimeOfDay{12};
    if (word == "fika") return TimeOfDay{15};
    if (word == "teatime") return TimeOfDay{16};
    const bool pm = word.ends_with("pm");
    const bool am = word.ends_with("am");
    if (am || pm) word.remove_suffix(2);
    const auto pieces = split(word, ':');
    if (pieces.empty() || (pieces.size() == 1 && !am && !pm)) return std::nullopt;
    const auto n = numbers(pieces);
    if (!n) return std::nullopt;
    TimeOfDay time{(*n)[0], (*n)[1], (*n)[2]};
    if (am || pm) {
        if (time.hour < 1 || time.hour > 12) return std::nullopt;
        time.hour = time.hour % 12 + (pm ? 12 : 0);
    }
    if (time.hour > 23 || time.minute > 59 || time.second > 59) return std::nullopt;
    return time;
}

// What follows "now": "+1hour", "-2days", "+60".
std::optional<Seconds> parse_offset(std::string_view text) {
    if (text.empty()) return Seconds{0};
    const bool back = text[0] == '-';
    if (!back && text[0] != '+') return std::nullopt;
    text.remove_prefix(1);
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto count = parse_uint(text.substr(0, digits));
    const std::string_view unit = text.substr(digits);
    struct Unit {
        std::string_view name;
        std::int64_t seconds;
    };
    constexpr std::array<Unit, 5> kUnits{
        {{"seconds", 1}, {"minutes", 60}, {"hours", 3600}, {"days", 86'400}, {"weeks", 604'800}}};
    const auto found =
        std::ranges::find_if(kUnits, [&](const Unit& u) { return u.name.starts_with(unit); });
    constexpr std::uint64_t kCountMax = 4'000'000'000;
    if (!count || *count > kCountMax || found == kUnits.end()) return std::nullopt;
    const Seconds offset{static_cast<std::int64_t>(*count) * found->seconds};
    constexpr Seconds kOffsetMax{std::int64_t{86'400} * 365 * 1000};
    if (offset > kOffsetMax) return std::nullopt;
    return back ? -offset : offset;
}

Instant to_instant(const Date& date, const TimeOfDay& time, int more_days = 0) {
    std::tm when{};
    when.tm_year = date.year - 1900;
    when.tm_mon = date.month - 1;
    when.tm_mday = date.day + more_days;
    when.tm_hour = time.hour;
    when.tm_min = time.minute;
    when.tm_sec = time.second;
    when.tm_isdst = -1;  // The zone's rules decide.
    return from_unix_seconds(std::mktime(&when));
}

// The place of the 't' or '-' between a date and a time of day: "2027-01-02T16:00", "01/02-16:00".
std::size_t joint_of(std::string_view text) {
    constexpr std::size_t kIsoDate = 10;
    if (text.size() > kIsoDate && text[4] == '-' && text[7] == '-') {
        const bool joint = text[kIsoDate] == 't' || text[kIsoDate] == '-';
        return joint ? kIsoDate : std::string_view::npos;
    }
    if (text.find_first_of("/.") == std::string_view::npos) return std::string_view::npos;
    // Not the 't' of "midnight".
    const std::size_t at = text.find_first_of("t-");
    const bool joint = at != 0 && at == text.find_first_not_of("0123456789/.");
    return joint ? at : std::string_view::npos;
}

// The words of a date and a time of day, in lower case.
std::vector<std::string> words_of(std::string_view text) {
    std::string plain = to_lower(trim(text));
    const std::size_t joint = joint_of(plain);
    if (joint != std::string::npos) {
        if (joint + 1 == plain.size()) return {};
        plain[joint] = ' ';
    }
    std::vector<std::string> words;
    for (std::string_view piece : split(plain, ' ')) {
        if (piece.empty()) continue;
        // "4 pm" is one word, whatever blanks stand in it.
        if ((piece == "am" || piece == "pm") && !words.empty()) {
            words.back() += piece;
        } else {
            words.emplace_back(piece);
        }
    }
    return words;
}

std::optional<Instant> parse_epoch(std::string_view text) {
    if (text.starts_with("uts")) {
        text.remove_prefix(3);
    } else if (text.size() != 10) {
        return std::nullopt;
    }
    const auto seconds = parse_uint(text);
    constexpr std::uint64_t kEpochMax = 250'000'000'000;  // Some thousand years on.
    if (!seconds || *seconds > kEpochMax) return std::nullopt;
    return from_unix_seconds(static_cast<std::int64_t>(*seconds));
}

std::optional<Instant> parse_words(const std::vector<std::string>& words, Instant now) {
    const std::tm today = local_time(now);
    const Date this_day{today.tm_year + 1900, today.tm_mon + 1, today.tm_mday};
    std::optional<Date> date;
    std::optional<TimeOfDay> time;
    int more_days = 0;
    for (const std::string& word : words) {
        if (word == "today" || word == "tomorrow") {
            if (date) return std::nullopt;
            date = this_day;
            more_days = word == "tomorrow" ? 1 : 0;
        } else if (const auto clock = parse_time_of_day(word)) {
            if (time) return std::nullopt;
            time = clock;
        } else if (const auto day = parse_date(word, today)) {
            if (date || !is_valid(*day)) return std::nullopt;
            date = day;
        } else {
            return std::nullopt;
        }
    }
    if (!date && !time) return std::nullopt;
    Instant when = to_instant(date.value_or(this_day), time.value_or(TimeOfDay{}), more_days);
    if (when > now) return when;
    if (!date) return to_instant(this_day, *time, 1);
    if (!date->year_given) {
        date->year += 1;
        if (!is_valid(*date)) return std::nullopt;  // 29 February.
        when = to_instant(*date, time.value_or(TimeOfDay{}));
    }
    return when;
}

}  // namespace

std::string format_instant(Instant instant, std::string_view time_format,
                           std::optional<Instant> now) {
    const std::tm when = local_time(instant);
    if (time_format == "relative" && now) {
        return format_tm(when, relative_pattern(when, local_time(*now)));
    }
    const bool standard =
        time_format.empty() || time_format == "standard" || time_format == "relative";
    if (!standard) return format_tm(when, std::string(time_format));
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", when.tm_year + 1900, when.tm_mon + 1,
                       when.tm_mday, when.tm_hour, when.tm_min, when.tm_sec);
}

std::string format_instant_millis(Instant instant) {
    const Millis part = instant - whole_seconds(instant);
    return fmt::format("{}.{:03}", format_instant(instant), part.count());
}

Result<Instant> parse_instant(std::string_view text, Instant now) {
    const std::string plain = to_lower(trim(text));
    std::optional<Instant> when;
    if (plain.starts_with("now")) {
        std::string rest = plain.substr(3);
        std::erase(rest, ' ');
        if (const auto offset = parse_offset(rest)) when = now + *offset;
    } else if (const auto epoch = parse_epoch(plain)) {
        when = epoch;
    } else {
        when = parse_words(words_of(text), now);
    }
    if (!when)
        return fail(Errc::InvalidArgument, fmt::format("Invalid time specification: {}", text));
    return *when;
}

}  // namespace switchyard::model
