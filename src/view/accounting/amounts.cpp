#include "view/accounting/amounts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "model/size_format.hpp"
#include "model/time_format.hpp"
#include "view/amount_text.hpp"

namespace switchyard::view {
namespace {

constexpr std::string_view kLetters{"\0KMGTP", 6};
constexpr std::uint64_t kFactor = 1024;

std::string with_unit(std::string number, std::size_t unit) {
    if (unit > 0) number += kLetters[unit];
    return number;
}

}  // namespace

std::string amount_text(std::uint64_t count, char unit, const Units& units) {
    std::size_t at = unit == 0 ? 0 : kLetters.find(unit, 1);
    if (units.fixed) {
        const std::size_t wanted = kLetters.find(*units.fixed, 1);
        auto value = static_cast<double>(count);
        for (; at < wanted; ++at) value /= kFactor;
        for (; at > wanted; --at) value *= kFactor;
        const auto whole = static_cast<std::uint64_t>(value);
        const bool exact = static_cast<double>(whole) == value;
        return with_unit(exact ? fmt::to_string(whole) : fmt::format("{:.2f}", value), at);
    }
    if (units.convert && count > 0) return short_amount(count, kLetters.substr(at));
    return with_unit(fmt::to_string(count), count == 0 ? 0 : at);
}

std::string thousands_text(std::uint64_t count, const Units& units) {
    constexpr double kThousand = 1000;
    auto value = static_cast<double>(count);
    std::size_t unit = 0;
    const std::size_t wanted = units.fixed ? kLetters.find(*units.fixed, 1) : kLetters.size() - 1;
    for (; units.convert && unit < wanted && (units.fixed || value >= kThousand); ++unit)
        value /= kThousand;
    const auto whole = static_cast<std::uint64_t>(value);
    const bool exact = static_cast<double>(whole) == value;
    return with_unit(exact ? fmt::to_string(whole) : fmt::format("{:.2f}", value), unit);
}

std::string cpu_time_text(std::uint64_t micros) {
    constexpr std::uint64_t kPerSecond = 1'000'000, kHour = 3600;
    const std::uint64_t seconds = micros / kPerSecond;
    const std::uint64_t millis = micros % kPerSecond / 1000;
    if (seconds < kHour && micros % kPerSecond > 0) {
        return fmt::format("{:02}:{:02}.{:03}", seconds / 60, seconds % 60, millis);
    }
    return model::format_duration(Seconds{static_cast<std::int64_t>(seconds)});
}

std::string sorted_tres(std::string_view tres, bool with_billing, const Units& units) {
    std::vector<std::string> parts;
    for (const std::string_view part : split(tres, ',')) {
        if (part.empty() || (!with_billing && part.starts_with("billing="))) continue;
        constexpr std::string_view kMemory = "mem=";
        const auto memory = part.starts_with(kMemory)
                                ? model::parse_memory(part.substr(kMemory.size()))
                                : Result<model::MiB>(fail(Errc::InvalidArgument));
        parts.push_back(memory ? std::string(kMemory) + amount_text(memory->value, 'M', units)
                               : std::string(part));
    }
    std::ranges::sort(parts);
    return join(parts, ",");
}

}  // namespace switchyard::view
