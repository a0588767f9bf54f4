#include "model/size_format.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "base/text.hpp"

namespace switchyard::model {
namespace {

constexpr std::string_view kUnits = "KMGTP";  // Each 1024 times the one before.

// A number and what stands behind it, in lower case.
struct Amount {
    std::uint64_t number;
    std::string unit;
};

std::optional<Amount> split_amount(std::string_view text) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto number = parse_uint(text.substr(0, digits));
    if (!number) return std::nullopt;
    return Amount{*number, to_lower(text.substr(digits))};
}

// The place of a unit in kUnits: "g", "gb" and "gib" are 2.
std::optional<std::size_t> unit_place(std::string_view unit) {
    if (unit.size() > 1 && unit.substr(1) != "b" && unit.substr(1) != "ib") return std::nullopt;
    for (std::size_t i = 0; i < kUnits.size(); ++i) {
        if (equals_ignoring_case(unit.substr(0, 1), kUnits.substr(i, 1))) return i;
    }
    return std::nullopt;
}

std::optional<std::uint64_t> shifted(std::uint64_t value, std::size_t bits) {
    if (bits >= 64 || (value >> (63 - bits)) != 0)
        return std::nullopt;  // Fits a signed number, too.
    return value << bits;
}

}  // namespace

Result<MiB> parse_memory(std::string_view text) {
    const auto invalid = [&] {
        return fail(Errc::InvalidArgument, fmt::format("Invalid memory specification: {}", text));
    };
    const auto amount = split_amount(text);
    if (!amount) return invalid();
    if (amount->unit.empty()) {
        if (!shifted(amount->number, 20)) return invalid();
        return MiB{amount->number};
    }
    const auto place = unit_place(amount->unit);
    if (!place) return invalid();
    // As bytes it must still fit, since that is what a kernel is told.
    if (*place == 0) {
        const MiB rounded{amount->number / 1024 + (amount->number % 1024 != 0 ? 1 : 0)};
        if (!shifted(rounded.value, 20)) return invalid();
        return rounded;
    }
    if (!shifted(amount->number, (*place + 1) * 10)) return invalid();
    return MiB{amount->number << ((*place - 1) * 10)};
}

std::string format_memory(MiB amount) {
    if (amount.value == 0) return "0";
    std::size_t place = 1;
    while (amount.value % 1024 == 0 && place + 1 < kUnits.size()) {
        amount.value /= 1024;
        ++place;
    }
    return fmt::format("{}{}", amount.value, kUnits[place]);
}

Result<std::uint64_t> parse_count(std::string_view text) {
    const auto amount = split_amount(text);
    if (amount && amount->unit.empty() && shifted(amount->number, 0)) return amount->number;
    if (amount && amount->unit.size() == 1) {
        if (const auto place = unit_place(amount->unit)) {
            if (const auto count = shifted(amount->number, (*place + 1) * 10)) return *count;
        }
    }
    return fail(Errc::InvalidArgument, fmt::format("Invalid count: {}", text));
}

}  // namespace switchyard::model
