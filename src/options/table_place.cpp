// table_place.cpp: where and when a job may run: partition, nodes, features, times, order in the
// queue.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "base/errc.hpp"
#include "model/hostlist.hpp"
#include "model/licenses.hpp"
#include "model/nice.hpp"
#include "options/setters.hpp"

namespace switchyard::options {
namespace {

using model::JobSpec;

constexpr std::size_t kNodeFileBytesMax = 1u << 20;
constexpr std::uint32_t kPriorityTop = 0xfffffffd;
constexpr std::int32_t kNiceDefault = 100;

Fault refused(Errc code) { return {Fault::Kind::Refused, std::string(errc_text(code))}; }

Outcome set_partition(Setting& s) {
    s.request.job.partitions.clear();
    for (const std::string_view name : split(s.value, ','))
        s.request.job.partitions.emplace_back(trim(name));
    return {};
}

// Slurm counts in whole minutes: what is left of one counts as one. Zero is no limit.
std::optional<model::TimeLimit> parse_limit(std::string_view text) {
    auto limit = model::parse_time_limit(text);
    if (!limit) return std::nullopt;
    if (limit->unlimited || limit->seconds == Seconds{0}) return model::TimeLimit::infinite();
    limit->seconds = std::chrono::ceil<Minutes>(limit->seconds);
    return *limit;
}

template <auto Member>
Outcome set_limit(Setting& s) {
    const auto limit = parse_limit(s.value);
    if (!limit) return invalid_specification(s);
    s.request.job.*Member = *limit;
    s.shown = model::format_limit(*limit);
    return {};
}

// Which there are, the controller knows; what is no list is told at once.
Outcome set_licenses(Setting& s) {
    if (!model::parse_license_request(s.value)) return refused(Errc::InvalidLicenses);
    s.request.job.licenses = std::string(s.value);
    return {};
}

template <auto Member>
Outcome set_instant(Setting& s) {
    const auto instant = model::parse_instant(s.value, s.surroundings.now);
    if (!instant) return invalid_specification(s);
    s.request.job.*Member = *instant;
    s.shown = model::format_instant(*instant);
    return {};
}

Outcome set_nice(Setting& s) {
    if (!s.has_value || s.value.empty()) {
        s.request.job.nice = kNiceDefault;
        s.shown = fmt::format("{}", kNiceDefault);
        return {};
    }
    const auto nice = parse_int(s.value);
    if (!nice) return bad_value(fmt::format("Invalid --nice specification: {}", s.value));
    if (*nice > model::kNiceMax || *nice < -model::kNiceMax) {
        return bad_value(fmt::format("Nice value out of range ({}). Value ignored", *nice));
    }
    s.request.job.nice = static_cast<std::int32_t>(*nice);
    if (*nice < 0 && !s.surroundings.is_root) {
        s.request.warnings.push_back("Nice value must be non-negative, value ignored");
        s.request.job.nice = 0;
    }
    return {};
}

Outcome set_priority(Setting& s) {
    if (equals_ignoring_case(s.value, "TOP")) {
        s.request.job.priority = kPriorityTop;
        return {};
    }
    const auto priority = parse_uint(s.value);
    if (!priority || *priority > kPriorityTop) return invalid_specification(s);
    s.request.job.priority = static_cast<std::uint32_t>(*priority);
    return {};
}

Outcome set_dependency(Setting& s) {
    auto dependency = model::parse_dependency(s.value);
    if (!dependency) return refused(Errc::DependencyProblem);
    s.request.job.dependency = *std::move(dependency);
    return {};
}

Outcome set_array(Setting& s) {
    auto array = model::parse_array(s.value);
    if (!array) return refused(Errc::InvalidArray);
    s.request.job.array = *std::move(array);
    return {};
}

Outcome set_kill_on_invalid_dependency(Setting& s) {
    const auto value = parse_switch(s.value);
    if (!value) return invalid_specification(s);
    s.request.job.kill_on_invalid_dependency = *value;
    return {};
}

// "-I" wants an answer now; "-I30" is content with one within 30 seconds.
Outcome set_immediate(Setting& s) {
    s.request.ask.immediate_seconds = 1;
    if (s.has_value && !s.value.empty()) {
        const auto seconds = parse_uint(s.value);
        if (!seconds || *seconds > 0x7fffffff) {
            return Fault{Fault::Kind::BadNumber,
                         fmt::format("Invalid numeric value \"{}\" for immediate.", s.value)};
        }
        s.request.ask.immediate_seconds = static_cast<std::uint32_t>(*seconds);
    }
    s.request.job.immediate = *s.request.ask.immediate_seconds <= 1;
    return {};
}

std::optional<std::string> read_small_file(const std::string& path) {
    const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "re"), std::fclose);
    if (!file) return std::nullopt;
    std::string text(kNodeFileBytesMax, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file.get()));
    return text;
}

// A node file holds names one to a line or joined by commas.
std::optional<std::string> names_in_file(const std::string& path) {
    auto text = read_small_file(path);
    if (!text) return std::nullopt;
    std::string names;
    for (std::string_view line : split(*text, '\n')) {
        line = trim(line.substr(0, line.find('#')));
        if (line.empty()) continue;
        if (!names.empty()) names += ',';
        names += line;
    }
    return names;
}

std::optional<std::vector<std::string>> expanded(const std::string& names) {
    auto list = model::expand_hostlist(names);
    if (!list || list->empty()) return std::nullopt;
    return *std::move(list);
}

template <auto Member>
Outcome set_nodes_named(Setting& s) {
    std::string names(s.value);
    if (names.find('/') != std::string::npos || s.option.name == "nodefile") {
        auto read = names_in_file(names);
        if (!read) {
            const std::string why = fmt::format(
                "slurm_allocate_resources error opening file {}, {}", names, std::strerror(errno));
            if (s.option.name == "nodefile")
                return bad_value(why + "\nInvalid --nodefile node file");
            return Fault{Fault::Kind::Fatal, why};
        }
        names = *std::move(read);
    }
    auto list = expanded(names);
    if (!list) return refused(Errc::InvalidNodeName);
    s.request.job.*Member = *std::move(list);
    return {};
}

constexpr auto kRequired = Argument::Required;

constexpr Option kPlace[] = {
    {.name = "partition",
     .letter = 'p',
     .argument = kRequired,
     .sbatch_variables = "SBATCH_PARTITION",
     .salloc_variables = "SALLOC_PARTITION",
     .srun_variables = "SLURM_PARTITION",
     .value_name = "partition",
     .help = "partition requested; of several, the first that can start",
     .set = set_partition},
    {.name = "account",
     .letter = 'A',
     .argument = kRequired,
     .sbatch_variables = "SBATCH_ACCOUNT",
     .salloc_variables = "SALLOC_ACCOUNT",
     .srun_variables = "SLURM_ACCOUNT",
     .value_name = "name",
     .help = "charge the job to this account",
     .set = store_text<&JobSpec::account>},
    {.name = "qos",
     .letter = 'q',
     .argument = kRequired,
     .sbatch_variables = "SBATCH_QOS",
     .salloc_variables = "SALLOC_QOS",
     .srun_variables = "SLURM_QOS",
     .value_name = "qos",
     .help = "quality of service",
     .set = store_text<&JobSpec::qos>},
    {.name = "reservation",
     .argument = kRequired,
     .sbatch_variables = "SBATCH_RESERVATION",
     .salloc_variables = "SALLOC_RESERVATION",
     .srun_variables = "SLURM_RESERVATION",
     .value_name = "names",
     .help = "run in this reservation, or in one of several",
     .set = store_text<&JobSpec::reservation>},
    {.name = "licenses",
     .letter = 'L',
     .argument = kRequired,
     .value_name = "list",
     .help = "licenses that the job needs: a:2,b for all of them, a:2|b for one",
     .set = set_licenses},
    {.name = "constraint",
     .letter = 'C',
     .argument = kRequired,
     .sbatch_variables = "SBATCH_CONSTRAINT",
     .salloc_variables = "SALLOC_CONSTRAINT",
     .srun_variables = "SLURM_CONSTRAINT",
     .group = Group::Constraints,
     .value_name = "list",
     .help = "features that the nodes must have",
     .set = store_text<&JobSpec::constraint>},
    {.name = "prefer",
     .argument = kRequired,
     .sbatch_variables = "SBATCH_PREFER",
     .salloc_variables = "SALLOC_PREFER",
     .srun_variables = "SLURM_PREFER",
     .group = Group::Constraints,
     .value_name = "list",
     .help = "features that the nodes should have, if the job can start there at once",
     .set = store_text<&JobSpec::prefer>},
    {.name = "nodelist",
     .letter = 'w',
     .argument = kRequired,
     .group = Group::Constraints,
     .value_name = "hosts",
     .help = "use these nodes (a list, or a file with a '/' in its name)",
     .set = set_nodes_named<&JobSpec::required_nodes>},
    {.name = "nodefile",
     .letter = 'F',
     .argument = kRequired,
     .group = Group::Constraints,
     .value_name = "filename",
     .help = "use the nodes named in this file",
     .set = set_nodes_named<&JobSpec::required_nodes>,
     .same_as = "nodelist"},
    {.name = "exclude",
     .letter = 'x',
     .argument = kRequired,
     .group = Group::Constraints,
     .value_name = "hosts",
     .help = "do not use these nodes",
     .set = set_nodes_named<&JobSpec::excluded_nodes>},
    {.name = "network",
     .argument = kRequired,
     .sbatch_variables = "SBATCH_NETWORK",
     .salloc_variables = "SALLOC_NETWORK",
     .srun_variables = "SLURM_NETWORK",
     .value_name = "type",
     .set = store_text_and_warn<&JobSpec::network>,
     .why = "no switch plugin acts on it; it is only shown"},
    {.name = "mcs-label",
     .argument = kRequired,
     .set = store_text_and_warn<&JobSpec::mcs_label>,
     .why = "there is no MCS plugin"},
};

constexpr Option kTime[] = {
    {.name = "time",
     .letter = 't',
     .argument = kRequired,
     .sbatch_variables = "SBATCH_TIMELIMIT",
     .salloc_variables = "SALLOC_TIMELIMIT",
     .srun_variables = "SLURM_TIMELIMIT",
     .value_name = "time",
     .help = "time limit (minutes, M:S, H:M:S, D-H, D-H:M, D-H:M:S)",
     .set = set_limit<&JobSpec::time_limit>},
    {.name = "time-min",
     .argument = kRequired,
     .value_name = "time",
     .help = "the time limit may be reduced to this, if the job can so start earlier",
     .set = set_limit<&JobSpec::time_min>},
    {.name = "begin",
     .letter = 'b',
     .argument = kRequired,
     .value_name = "time",
     .help = "do not start before this time",
     .set = set_instant<&JobSpec::begin>},
    {.name = "deadline",
     .argument = kRequired,
     .value_name = "time",
     .help = "remove the job if it cannot end before this time",
     .set = set_instant<&JobSpec::deadline>},
    {.name = "hold",
     .letter = 'H',
     .help = "submit the job held",
     .set = store_flag<&JobSpec::hold>},
    {.name = "nice",
     .argument = Argument::Optional,
     .value_name = "value",
     .help = "lower the priority of the job by this much",
     .set = set_nice},
    {.name = "priority",
     .argument = kRequired,
     .value_name = "value",
     .help = "set the priority of the job",
     .set = set_priority},
    {.name = "dependency",
     .letter = 'd',
     .argument = kRequired,
     .srun_variables = "SLURM_DEPENDENCY",
     .value_name = "type:jobid[:jobid]",
     .help = "wait for other jobs (afterok:12, afterany:12:13, singleton)",
     .set = set_dependency},
    {.name = "kill-on-invalid-dep",
     .argument = kRequired,
     .commands = kSbatch,
     .value_name = "yes|no",
     .help = "remove the job if its dependency can never be met",
     .set = set_kill_on_invalid_dependency},
    {.name = "array",
     .letter = 'a',
     .argument = kRequired,
     .commands = kSbatch,
     .sbatch_variables = "SBATCH_ARRAY_INX",
     .value_name = "indexes",
     .help = "submit a job array (0-15, 1,3,7, 0-15:4%2)",
     .set = set_array},
    {.name = "immediate",
     .letter = 'I',
     .argument = Argument::Optional,
     .commands = kSalloc | kSrun,
     .salloc_variables = "SALLOC_IMMEDIATE",
     .srun_variables = "SLURM_IMMEDIATE",
     .value_name = "secs",
     .help = "give up if resources are not free within so many seconds",
     .set = set_immediate},
};

}  // namespace

std::optional<std::vector<std::string>> nodes_in_file(const std::string& path) {
    const auto names = names_in_file(path);
    return names ? expanded(*names) : std::nullopt;
}

std::span<const Option> place_options() { return kPlace; }
std::span<const Option> time_options() { return kTime; }

}  // namespace switchyard::options
