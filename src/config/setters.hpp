// setters.hpp: from the text of a value to a member of a typed struct. The key tables are made of
// these.
//
//   {"KillWait", set_seconds<Config, &Config::kill_wait>}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "model/size_format.hpp"

namespace switchyard::config {

template <class T>
using Setter = Status (*)(T& target, std::string_view value);

template <class T>
struct KeyRule {
    std::string_view name;
    Setter<T> set = nullptr;  // Null: known to Slurm, not used here.
    // Why a key has no effect; empty without a setter: it is just not supported. With both, the
    // value is kept and shown, and nothing more.
    std::string_view note = {};

    bool has_effect() const { return set != nullptr && note.empty(); }
};

template <class T>
const KeyRule<T>* find_rule(const auto& rules, std::string_view key) {
    for (const KeyRule<T>& rule : rules) {
        if (equals_ignoring_case(rule.name, key)) return &rule;
    }
    return nullptr;
}

// YES, UP, TRUE, 1 and NO, DOWN, FALSE, 0, as Slurm reads them.
Result<bool> parse_flag(std::string_view value);
// A decimal number of at most `max`.
Result<std::uint64_t> parse_number(std::string_view value, std::uint64_t max);
// A number of seconds; INFINITE and UNLIMITED are the largest there is.
Result<Seconds> parse_seconds(std::string_view value);
// UNLIMITED and INFINITE are no value.
Result<std::optional<std::uint32_t>> parse_number_or_unlimited(std::string_view value);
// Comma-separated; ALL is an empty list.
std::vector<std::string> parse_list(std::string_view value);
bool is_unlimited(std::string_view value);
// "The text of an unused key": one sentence for every table.
std::string unused_key_text(std::string_view key, std::string_view note);
std::string unknown_key_text(std::string_view key, std::string_view of);

template <class T, std::string T::* Member>
Status set_text(T& target, std::string_view value) {
    target.*Member = std::string(value);
    return {};
}

// A text of which "(null)" and "none" mean nothing.
template <class T, std::string T::* Member>
Status set_optional_text(T& target, std::string_view value) {
    const bool none = value == "(null)" || equals_ignoring_case(value, "none");
    target.*Member = none ? std::string() : std::string(value);
    return {};
}

template <class T, bool T::* Member>
Status set_flag(T& target, std::string_view value) {
    SY_TRY(target.*Member, parse_flag(value));
    return {};
}

template <class T, auto Member, std::uint64_t Max = UINT32_MAX>
Status set_number(T& target, std::string_view value) {
    SY_TRY(const std::uint64_t number, parse_number(value, Max));
    target.*Member = static_cast<std::remove_reference_t<decltype(target.*Member)>>(number);
    return {};
}

template <class T, std::optional<std::uint32_t> T::* Member>
Status set_number_or_unlimited(T& target, std::string_view value) {
    SY_TRY(target.*Member, parse_number_or_unlimited(value));
    return {};
}

// Here no value would mean none at all, so UNLIMITED is a hundred years.
inline constexpr std::uint32_t kUnlimitedMinutes = 100u * 365 * 24 * 60;
template <class T, std::optional<std::uint32_t> T::* Member>
Status set_minutes_or_unlimited(T& target, std::string_view value) {
    SY_TRY(const auto minutes, parse_number_or_unlimited(value));
    target.*Member = minutes.value_or(kUnlimitedMinutes);
    return {};
}

template <class T, Seconds T::* Member>
Status set_seconds(T& target, std::string_view value) {
    SY_TRY(target.*Member, parse_seconds(value));
    return {};
}

template <class T, model::MiB T::* Member>
Status set_memory(T& target, std::string_view value) {
    SY_TRY(target.*Member, model::parse_memory(value));
    return {};
}

// 0 and UNLIMITED are no limit.
template <class T, std::optional<model::MiB> T::* Member>
Status set_memory_limit(T& target, std::string_view value) {
    target.*Member = std::nullopt;
    if (is_unlimited(value)) return {};
    SY_TRY(const model::MiB amount, model::parse_memory(value));
    if (amount.value != 0) target.*Member = amount;
    return {};
}

template <class T, std::vector<std::string> T::* Member>
Status set_list(T& target, std::string_view value) {
    target.*Member = parse_list(value);
    return {};
}

}  // namespace switchyard::config
