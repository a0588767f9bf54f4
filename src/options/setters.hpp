// setters.hpp: the ways in which most options store their value, so that the table stays a table.
#pragma once

#include <concepts>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/text.hpp"
#include "options/option.hpp"

namespace switchyard::options {

inline Fault bad_value(std::string text) { return {Fault::Kind::BadValue, std::move(text)}; }
// "Invalid --time specification"
Fault invalid_specification(const Setting& setting);
// 'Invalid numeric value "0" for --ntasks.'
Fault invalid_number(const Setting& setting);

// The part of the request that a member belongs to.
template <class Class, class Value>
Class& part_of(JobRequest& request, Value Class::*) {
    if constexpr (std::same_as<Class, model::JobSpec>) return request.job;
    if constexpr (std::same_as<Class, LaunchSettings>) return request.launch;
    if constexpr (std::same_as<Class, CommandSettings>) return request.ask;
    if constexpr (std::same_as<Class, JobRequest>) return request;
}

template <auto Member>
Outcome store_text(Setting& setting) {
    part_of(setting.request, Member).*Member = std::string(setting.value);
    return {};
}

template <auto Member, bool Value = true>
Outcome store_flag(Setting& setting) {
    part_of(setting.request, Member).*Member = Value;
    setting.shown = "set";
    return {};
}

// A whole number from `Least` up.
template <auto Member, std::uint32_t Least = 1>
Outcome store_count(Setting& setting) {
    const auto number = parse_uint(setting.value);
    if (!number || *number < Least || *number > std::numeric_limits<std::int32_t>::max()) {
        return invalid_number(setting);
    }
    part_of(setting.request, Member).*Member = static_cast<std::uint32_t>(*number);
    return {};
}

// "0" or "1", "no" or "yes"; without a value: yes.
std::optional<bool> parse_switch(std::string_view text);
template <auto Member>
Outcome store_switch(Setting& setting) {
    const auto value = setting.has_value ? parse_switch(setting.value) : std::optional(true);
    if (!value) return invalid_specification(setting);
    part_of(setting.request, Member).*Member = *value;
    setting.shown = *value ? "set" : "unset";
    return {};
}

// The nodes that a file names; none: it cannot be read or names none.
std::optional<std::vector<std::string>> nodes_in_file(const std::string& path);

// Options that we know and do not do: one kind would change what runs, so it is refused; the other
// is a hint or a matter of accounting, so the job goes ahead with a warning.
Outcome refuse(Setting& setting);
Outcome warn(Setting& setting);
// The same for a value that is kept and shown but not followed.
template <auto Member>
Outcome store_text_and_warn(Setting& setting) {
    part_of(setting.request, Member).*Member = std::string(setting.value);
    return warn(setting);
}

}  // namespace switchyard::options
