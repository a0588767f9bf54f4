#include "config/history_keys.hpp"

#include <fmt/core.h>

#include <array>

#include "base/text.hpp"
#include "config/setters.hpp"

namespace switchyard::config {
namespace {

constexpr std::uint64_t kPeriodsMax = 100'000;
constexpr Seconds kHour{3600};

// A month is counted as 30 days: what is kept is kept at least about so long.
Result<Seconds> parse_age(std::string_view value) {
    struct Unit {
        std::string_view name;
        Seconds length;
    };
    constexpr std::array<Unit, 3> kUnits{
        {{"hour", kHour}, {"day", 24 * kHour}, {"month", 30 * 24 * kHour}}};
    const std::size_t digits = std::min(value.find_first_not_of("0123456789"), value.size());
    const auto count = parse_number(value.substr(0, digits), kPeriodsMax);
    const std::string unit = to_lower(trim(value.substr(digits)));
    if (count && *count > 0) {
        if (unit.empty()) return Seconds{static_cast<std::int64_t>(*count)} * (30 * 24 * 3600);
        for (const Unit& each : kUnits) {
            if (unit == each.name || unit == std::string(each.name) + "s") {
                return each.length * static_cast<std::int64_t>(*count);
            }
        }
    }
    return fail(Errc::InvalidArgument,
                fmt::format("\"{}\" is no time such as 12months, 30days or 48hours", value));
}

Status set_age(std::optional<Seconds>& to, std::string_view value) {
    if (equals_ignoring_case(value, "never") || value == "0" || is_unlimited(value)) {
        to.reset();
        return {};
    }
    SY_TRY(to, parse_age(value));
    return {};
}

}  // namespace

Status set_sample_frequency(Config& config, std::string_view value) {
    Seconds period = config.sample_period;
    for (const std::string& part : parse_list(value)) {
        const std::size_t equals = part.find('=');
        const std::string kind = equals == std::string::npos
                                     ? "task"
                                     : to_lower(std::string_view(part).substr(0, equals));
        const std::string_view number = equals == std::string::npos
                                            ? std::string_view(part)
                                            : std::string_view(part).substr(equals + 1);
        if (kind != "task" && kind != "energy" && kind != "network" && kind != "filesystem") {
            return fail(Errc::InvalidArgument,
                        fmt::format("\"{}\" is no kind of sampling: task, energy, network and "
                                    "filesystem are",
                                    kind));
        }
        SY_TRY(const std::uint64_t seconds, parse_number(number, UINT16_MAX));
        if (kind == "task") period = Seconds{static_cast<std::int64_t>(seconds)};
    }
    config.sample_period = period;
    config.job_acct_gather_frequency = std::string(value);
    return {};
}

Status set_purge_jobs_after(Config& config, std::string_view value) {
    return set_age(config.purge_jobs_after, value);
}

Status set_purge_steps_after(Config& config, std::string_view value) {
    return set_age(config.purge_steps_after, value);
}

Status set_accounting_store_flags(Config& config, std::string_view value) {
    bool scripts = false, environments = false;
    for (const std::string& flag : parse_list(value)) {
        const bool script = equals_ignoring_case(flag, "job_script");
        const bool environment = equals_ignoring_case(flag, "job_env");
        scripts |= script;
        environments |= environment;
        // Comments, extras and the names of output files are always part of the record.
        const bool kept_anyway =
            equals_ignoring_case(flag, "job_comment") || equals_ignoring_case(flag, "job_extra") ||
            equals_ignoring_case(flag, "no_stdio") || equals_ignoring_case(flag, "(null)");
        if (!script && !environment && !kept_anyway) {
            return fail(Errc::InvalidArgument, fmt::format("\"{}\" is no flag of it", flag));
        }
    }
    config.keep_scripts = scripts;
    config.keep_environments = environments;
    config.accounting_store_flags = value == "(null)" ? std::string() : std::string(value);
    return {};
}

}  // namespace switchyard::config
