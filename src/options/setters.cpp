#include "options/setters.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace switchyard::options {

Fault invalid_specification(const Setting& setting) {
    return bad_value(fmt::format("Invalid --{} specification", setting.option.name));
}

Fault invalid_number(const Setting& setting) {
    return {Fault::Kind::BadNumber, fmt::format("Invalid numeric value \"{}\" for --{}.",
                                                setting.value, setting.option.name)};
}

std::optional<bool> parse_switch(std::string_view text) {
    for (const std::string_view word : {"yes", "y", "on", "true"}) {
        if (equals_ignoring_case(text, word)) return true;
    }
    for (const std::string_view word : {"no", "n", "off", "false"}) {
        if (equals_ignoring_case(text, word)) return false;
    }
    if (const auto number = parse_uint(text)) return *number != 0;
    return std::nullopt;
}

Outcome refuse(Setting& setting) {
    return Fault{Fault::Kind::Fatal,
                 fmt::format("--{} is not supported{}{}", setting.option.name,
                             setting.option.why.empty() ? "" : ": ", setting.option.why)};
}

Outcome warn(Setting& setting) {
    // What a job hands on to its steps by variables was warned about when the job was submitted.
    const bool inherited = setting.source == Source::Environment &&
                           setting.surroundings.variable("SLURM_JOB_ID").has_value();
    if (inherited) return {};
    setting.request.warnings.push_back(
        fmt::format("--{} is ignored: {}", setting.option.name, setting.option.why));
    return {};
}

}  // namespace switchyard::options
