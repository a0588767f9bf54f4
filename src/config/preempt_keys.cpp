#include "config/preempt_keys.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.hpp"
#include "config/setters.hpp"

namespace switchyard::config {
namespace {

struct Parameter {
    std::string_view name;
    std::string_view note;  // Why it has no effect; empty: it has.
};
constexpr Parameter kParameters[] = {
    {"youngest_first", ""},
    {"min_exempt_priority", ""},
    {"send_user_signal", ""},
    {"strict_order", ""},  // Never otherwise.
    {"reorder_count", "whoever can be spared is spared in any case"},
    {"suspend_grace_time", ""},
    {"reclaim_licenses", "jobs are not preempted for their licenses"},
};

bool is_by_tier(const Config& config) {
    return equals_ignoring_case(config.preempt_type, "preempt/partition_prio");
}

}  // namespace

Status set_preempt_type(Config& config, std::string_view value) {
    const bool none = equals_ignoring_case(value, "preempt/none");
    if (equals_ignoring_case(value, "preempt/qos")) {
        return fail(Errc::InvalidArgument,
                    "preempt/qos is not supported: there are no QOS; preempt/partition_prio goes "
                    "by the PriorityTier of partitions");
    }
    if (!none && !equals_ignoring_case(value, "preempt/partition_prio")) {
        return fail(
            Errc::InvalidArgument,
            fmt::format("\"{}\" is none of preempt/none and preempt/partition_prio", value));
    }
    config.preempt_type = to_lower(value);
    return {};
}

Status set_preempt_mode(Config& config, std::string_view value) {
    SY_TRY(config.preempt_mode, model::parse_preempt_mode(value));
    return {};
}

Status set_preempt_exempt_time(Config& config, std::string_view value) {
    config.preempt_exempt_time = Seconds{0};
    if (value == "-1") return {};
    const auto time = model::parse_time_limit(value);
    if (!time || time->unlimited)
        return fail(Errc::InvalidArgument, fmt::format("PreemptExemptTime={} invalid", value));
    config.preempt_exempt_time = time->seconds;
    return {};
}

Status set_preempt_parameters(Config& config, std::string_view value) {
    for (const std::string& word : parse_list(value)) {
        if (!starts_with_ignoring_case(word, "min_exempt_priority=") &&
            !starts_with_ignoring_case(word, "suspend_grace_time="))
            continue;
        SY_CHECK(parse_number(std::string_view(word).substr(word.find('=') + 1), UINT32_MAX));
    }
    config.preempt_parameters = std::string(value);
    return {};
}

void check_preemption(const Config& config, Findings& findings) {
    const model::PreemptMode mode = config.preempt_mode.mode;
    if (is_by_tier(config) == (mode == model::PreemptMode::Off))
        findings.error(config.path, "PreemptType and PreemptMode values incompatible");
    const bool suspends =
        mode == model::PreemptMode::Suspend ||
        std::ranges::any_of(config.partitions, [](const model::Partition& partition) {
            return partition.preempt_mode == model::PreemptMode::Suspend;
        });
    if (suspends && !config.preempt_mode.gang)
        findings.error(config.path, "PreemptMode=SUSPEND requires GANG too");
    if (config.preempt_mode.gang && !suspends)
        findings.notice(config.path, "PreemptMode=GANG has no effect: there is no time slicing");
    for (const std::string& word : parse_list(config.preempt_parameters)) {
        const std::string name = word.substr(0, word.find('='));
        const auto known = std::ranges::find_if(kParameters, [&](const Parameter& parameter) {
            return equals_ignoring_case(parameter.name, name);
        });
        const bool found = known != std::end(kParameters);
        if (found && known->note.empty()) continue;
        findings.notice(
            config.path,
            found ? fmt::format("PreemptParameters={} has no effect: {}", name, known->note)
                  : fmt::format("PreemptParameters={} is not known; it has no effect", name));
    }
}

}  // namespace switchyard::config
