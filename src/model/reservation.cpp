#include "model/reservation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "base/text.hpp"
#include "model/time_format.hpp"

namespace switchyard::model {
namespace {

struct FlagWord {
    ReservationFlag flag;
    std::string_view shown;
    std::string_view other = {};  // Another word for it.
    bool only_shown = false;      // Nobody asks for it by this word.
};

// In the order in which they are shown.
constexpr FlagWord kFlagWords[] = {
    {ReservationFlag::Maint, "MAINT"},
    {ReservationFlag::Flex, "FLEX"},
    {ReservationFlag::Overlap, "OVERLAP"},
    {ReservationFlag::IgnoreJobs, "IGNORE_JOBS", "IGNORE_RUNNING"},
    {ReservationFlag::Hourly, "HOURLY"},
    {ReservationFlag::Daily, "DAILY"},
    {ReservationFlag::Weekday, "WEEKDAY"},
    {ReservationFlag::Weekend, "WEEKEND"},
    {ReservationFlag::Weekly, "WEEKLY"},
    {ReservationFlag::SpecNodes, "SPEC_NODES", "", true},
    {ReservationFlag::AllNodes, "ALL_NODES", "", true},
    {ReservationFlag::AnyNodes, "ANY_NODES", "LICENSE_ONLY"},
    {ReservationFlag::StaticAlloc, "STATIC", "STATIC_ALLOC"},
    {ReservationFlag::PartNodes, "PART_NODES"},
    {ReservationFlag::TimeFloat, "TIME_FLOAT"},
    {ReservationFlag::Replace, "REPLACE"},
    {ReservationFlag::ReplaceDown, "REPLACE_DOWN"},
    {ReservationFlag::PurgeComp, "PURGE_COMP"},
    {ReservationFlag::NoHoldJobsAfter, "NO_HOLD_JOBS_AFTER_END", "NO_HOLD_JOBS_AFTER"},
    {ReservationFlag::Magnetic, "MAGNETIC"},
    {ReservationFlag::UserDelete, "USER_DELETE"},
    {ReservationFlag::ForceStart, "FORCE_START"},
};

const FlagWord* find_flag(std::string_view word) {
    for (const FlagWord& each : kFlagWords) {
        if (each.only_shown) continue;
        if (equals_ignoring_case(word, each.shown) || equals_ignoring_case(word, each.other))
            return &each;
    }
    return nullptr;
}

// The same time of day, so many days later; hours that the clock skips or repeats are its matter.
Instant days_later(Instant instant, int days) {
    const auto seconds = static_cast<std::time_t>(unix_seconds(instant));
    std::tm local{};
    if (::localtime_r(&seconds, &local) == nullptr) return instant + Seconds{86400 * days};
    local.tm_mday += days;
    local.tm_isdst = -1;
    const std::time_t later = ::mktime(&local);
    if (later == -1) return instant + Seconds{86400 * days};
    return from_unix_seconds(later);
}

int weekday_of(Instant instant) {
    const auto seconds = static_cast<std::time_t>(unix_seconds(instant));
    std::tm local{};
    if (::localtime_r(&seconds, &local) == nullptr) return 0;
    return local.tm_wday;
}

bool names_uid(const std::vector<NamedUsers>& list, std::uint32_t uid) {
    return std::ranges::any_of(list, [&](const NamedUsers& each) {
        return std::ranges::find(each.uids, uid) != each.uids.end();
    });
}

}  // namespace

Instant next_occurrence(Instant start, ReservationFlags flags) {
    if (has(flags, ReservationFlag::Hourly)) return start + Seconds{3600};
    if (has(flags, ReservationFlag::Daily)) return days_later(start, 1);
    if (has(flags, ReservationFlag::Weekly)) return days_later(start, 7);
    const bool weekend = has(flags, ReservationFlag::Weekend);
    Instant next = days_later(start, 1);
    for (int day = 1; day < 7; ++day) {
        const int weekday = weekday_of(next);
        if ((weekday == 0 || weekday == 6) == weekend) break;
        next = days_later(next, 1);
    }
    return next;
}

bool admits(const Reservation& reservation, std::uint32_t uid,
            const std::vector<std::string>& groups, std::string_view account) {
    if (!reservation.accounts.empty()) {
        const bool named =
            std::ranges::find(reservation.accounts, account) != reservation.accounts.end();
        if (named == reservation.accounts_denied) return false;
    }
    if (!reservation.users.empty())
        return names_uid(reservation.users, uid) != reservation.users_denied;
    if (reservation.groups.empty()) return true;
    const auto is_member = [&](const NamedUsers& group) {
        return std::ranges::find(groups, group.name) != groups.end();
    };
    return names_uid(reservation.groups, uid) || std::ranges::any_of(reservation.groups, is_member);
}

bool admits_job(const Reservation& reservation, std::string_view qos,
                const std::vector<std::string>& partitions) {
    const auto named = [](const std::vector<std::string>& list, std::string_view name) {
        return std::ranges::find(list, name) != list.end();
    };
    if (!reservation.qos.empty() && named(reservation.qos, qos) == reservation.qos_denied)
        return false;
    if (reservation.allowed_partitions.empty()) return true;
    return std::ranges::any_of(partitions, [&](const std::string& partition) {
        return named(reservation.allowed_partitions, partition) != reservation.partitions_denied;
    });
}

std::string format_flags(const Reservation& reservation) {
    std::string text;
    for (const FlagWord& each : kFlagWords) {
        if (!reservation.is(each.flag)) continue;
        if (!text.empty()) text += ',';
        text += each.shown;
        if (each.flag == ReservationFlag::PurgeComp)
            text += "=" + format_duration(reservation.purge_after);
    }
    return text;
}

Result<FlagChange> parse_reservation_flags(std::string_view text, bool remove) {
    FlagChange change;
    for (const std::string_view entry : split(text, ',')) {
        std::string_view word = trim(entry);
        if (word.empty()) continue;
        bool clears = remove;
        if (word.starts_with('+') || word.starts_with('-')) {
            clears = word.front() == '-';
            word.remove_prefix(1);
        } else if (find_flag(word) == nullptr && starts_with_ignoring_case(word, "NO_") &&
                   find_flag(word.substr(3)) != nullptr) {
            clears = true;
            word.remove_prefix(3);
        }
        const std::size_t equals = word.find('=');
        const FlagWord* found = find_flag(word.substr(0, equals));
        const bool timed = equals != std::string_view::npos;
        if (found == nullptr || (timed && found->flag != ReservationFlag::PurgeComp))
            return fail(Errc::InvalidArgument, fmt::format("Error parsing flags {}.", text));
        if (timed && !clears) {
            const auto after = parse_time_limit(word.substr(equals + 1));
            if (!after || after->unlimited)
                return fail(Errc::InvalidArgument, fmt::format("Error parsing flags {}.", text));
            change.purge_after = after->seconds;
        }
        (clears ? change.cleared : change.set) |= bit(found->flag);
    }
    return change;
}

}  // namespace switchyard::model
