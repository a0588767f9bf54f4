// table_unsupported.cpp: options that Slurm has and this cluster does not do. Each is known by
// name, so that nobody is told "unrecognized option", and each says so when it is used: refused
// where the job would run otherwise than asked, a warning where it is a hint.
#include <algorithm>

#include <fmt/format.h>

#include "model/time_format.hpp"
#include "options/setters.hpp"

namespace switchyard::options {
namespace {

// What a hint says is looked at before it is set aside: a slip of the pen is told as ever.

// Every job has SLURM_OOM_KILL_STEP=0 in its environment: that is no request.
Outcome hint_oom_kill_step(Setting& setting) {
    const bool given = setting.has_value && !setting.value.empty();
    const auto value = given ? parse_uint(setting.value) : std::optional<std::uint64_t>(1);
    if (!value || *value > 1) return invalid_specification(setting);
    return *value == 0 ? Outcome{} : warn(setting);
}

Outcome hint_number(Setting& setting) {
    const auto number = parse_uint(setting.value);
    return number && *number > 0 ? warn(setting) : Outcome(invalid_number(setting));
}

// "30" or "task=30,energy=10".
Outcome hint_accounting_frequency(Setting& setting) {
    constexpr std::string_view kKinds[] = {"task", "energy", "network", "filesystem"};
    for (const std::string_view term : split(setting.value, ',')) {
        const std::size_t mark = term.find('=');
        const bool plain = mark == std::string_view::npos;
        const bool known = plain || std::ranges::any_of(kKinds, [&](std::string_view kind) {
                               return equals_ignoring_case(kind, term.substr(0, mark));
                           });
        if (!known || !parse_uint(plain ? term : term.substr(mark + 1))) {
            return bad_value(
                fmt::format("Invalid --{} specification: {}", setting.option.name, setting.value));
        }
    }
    return warn(setting);
}

bool is_frequency(std::string_view text) {
    constexpr std::string_view kWords[] = {"low", "medium", "high", "highm1"};
    return parse_uint(text) || std::ranges::any_of(kWords, [&](std::string_view word) {
               return equals_ignoring_case(word, text);
           });
}

// "low", "2000000", "1000000-2000000:Performance", "OnDemand".
Outcome hint_cpu_frequency(Setting& setting) {
    constexpr std::string_view kGovernors[] = {"conservative", "ondemand",  "performance",
                                               "powersave",    "schedutil", "userspace"};
    std::string_view range = setting.value;
    const std::size_t colon = range.find(':');
    const std::string_view governor =
        colon == std::string_view::npos ? std::string_view() : range.substr(colon + 1);
    range = range.substr(0, colon);
    const auto governs = [&](std::string_view text) {
        return std::ranges::any_of(
            kGovernors, [&](std::string_view word) { return equals_ignoring_case(word, text); });
    };
    const std::size_t dash = range.find('-');
    const bool is_range = dash != std::string_view::npos && is_frequency(range.substr(0, dash)) &&
                          is_frequency(range.substr(dash + 1));
    const bool good =
        (is_range || is_frequency(range) || (colon == range.npos && governs(range))) &&
        (governor.empty() || governs(governor));
    if (!good) {
        return bad_value(fmt::format(
            "unrecognized --cpu-freq argument \"{}\"\nInvalid --cpu-freq argument", setting.value));
    }
    return warn(setting);
}

Outcome hint_time(Setting& setting) {
    return model::parse_time_limit(setting.value) ? warn(setting)
                                                  : Outcome(invalid_specification(setting));
}

Outcome hint_profile(Setting& setting) {
    constexpr std::string_view kKinds[] = {"none", "all", "energy", "task", "lustre", "network"};
    for (const std::string_view word : split(setting.value, ',')) {
        const bool known = std::ranges::any_of(
            kKinds, [&](std::string_view kind) { return equals_ignoring_case(kind, word); });
        if (!known) return bad_value(fmt::format("invalid --profile={} option", setting.value));
    }
    return warn(setting);
}

// "1" or "1@10:00": how many, and how long to wait for so few.
Outcome hint_switches(Setting& setting) {
    const std::string_view count = setting.value.substr(0, setting.value.find('@'));
    if (!parse_uint(count)) {
        return Fault{Fault::Kind::BadNumber,
                     fmt::format("Invalid numeric value \"{}\" for --switches.", count)};
    }
    return warn(setting);
}

Outcome hint_segment(Setting& setting) {
    const auto size = parse_uint(setting.value);
    return size && *size > 0 ? warn(setting) : Outcome(invalid_specification(setting));
}

// "20@10:00": per cent above what is used, and when to look.
Outcome hint_memory_update(Setting& setting) {
    const std::size_t at = setting.value.find('@');
    const bool good = at != std::string_view::npos && parse_uint(setting.value.substr(0, at)) &&
                      model::parse_time_limit(setting.value.substr(at + 1));
    return good ? warn(setting) : Outcome(invalid_specification(setting));
}

Outcome hint_tree_width(Setting& setting) {
    if (!parse_uint(setting.value) && !equals_ignoring_case(setting.value, "off")) {
        return bad_value(fmt::format("Invalid --treewidth value: {}", setting.value));
    }
    return warn(setting);
}

Outcome hint_daemon_log(Setting& setting) {
    if (!setting.surroundings.is_root) {
        return bad_value("Use of --slurmd-debug is allowed only for root and SlurmUser(root)");
    }
    return warn(setting);
}

constexpr auto kRequired = Argument::Required;
constexpr auto kOptional = Argument::Optional;

constexpr Option kHints[] = {
    {.name = "acctg-freq",
     .argument = kRequired,
     .sbatch_variables = "SBATCH_ACCTG_FREQ",
     .salloc_variables = "SALLOC_ACCTG_FREQ",
     .srun_variables = "SLURM_ACCTG_FREQ",
     .set = hint_accounting_frequency,
     .why = "the sampling interval is not adjustable"},
    {.name = "accel-bind",
     .argument = kRequired,
     .commands = kSrun,
     .set = warn,
     .why = "use --gpu-bind"},
    {.name = "compress",
     .argument = kOptional,
     .commands = kSrun,
     .srun_variables = "SLURM_COMPRESS",
     .set = warn,
     .why = "files are sent as they are"},
    {.name = "consolidate-segments",
     .commands = kAllocators,
     .sbatch_variables = "SBATCH_CONSOLIDATE_SEGMENTS",
     .salloc_variables = "SALLOC_CONSOLIDATE_SEGMENTS",
     .srun_variables = "SLURM_CONSOLIDATE_SEGMENTS",
     .set = warn,
     .why = "the topology is flat"},
    {.name = "cpu-freq",
     .argument = kRequired,
     .srun_variables = "SLURM_CPU_FREQ_REQ",
     .set = hint_cpu_frequency,
     .why = "processor frequencies are not managed"},
    {.name = "delay-boot",
     .argument = kRequired,
     .sbatch_variables = "SBATCH_DELAY_BOOT",
     .salloc_variables = "SALLOC_DELAY_BOOT",
     .srun_variables = "SLURM_DELAY_BOOT",
     .set = hint_time,
     .why = "nodes are not booted for jobs"},
    {.name = "mem-update",
     .argument = kRequired,
     .set = hint_memory_update,
     .why = "a job keeps the memory that it asked for"},
    {.name = "msg-timeout",
     .argument = kRequired,
     .commands = kSrun,
     .set = hint_number,
     .why = "messages have no timeout to adjust"},
    {.name = "oom-kill-step",
     .argument = kOptional,
     .sbatch_variables = "SBATCH_OOM_KILL_STEP",
     .salloc_variables = "SALLOC_OOM_KILL_STEP",
     .srun_variables = "SLURM_OOM_KILL_STEP",
     .set = hint_oom_kill_step,
     .why = "a step that is out of memory ends on the nodes where it is"},
    {.name = "power",
     .argument = kRequired,
     .sbatch_variables = "SBATCH_POWER",
     .salloc_variables = "SALLOC_POWER",
     .srun_variables = "SLURM_POWER",
     .set = warn,
     .why = "power is not managed"},
    {.name = "preserve-env",
     .letter = 'E',
     .commands = kSrun,
     .set = warn,
     .why = "SLURM_NNODES and SLURM_NTASKS always describe the step"},
    {.name = "profile",
     .argument = kRequired,
     .sbatch_variables = "SBATCH_PROFILE",
     .salloc_variables = "SALLOC_PROFILE",
     .srun_variables = "SLURM_PROFILE",
     .set = hint_profile,
     .why = "no profile is collected"},
    {.name = "segment",
     .argument = kRequired,
     .sbatch_variables = "SBATCH_SEGMENT_SIZE",
     .salloc_variables = "SALLOC_SEGMENT_SIZE",
     .srun_variables = "SLURM_SEGMENT_SIZE SRUN_SEGMENT_SIZE",
     .set = hint_segment,
     .why = "the topology is flat"},
    {.name = "slurmd-debug",
     .argument = kRequired,
     .commands = kSrun,
     .set = hint_daemon_log,
     .why = "the level of the daemons' logs is theirs"},
    {.name = "spread-segments",
     .commands = kAllocators,
     .sbatch_variables = "SBATCH_SPREAD_SEGMENTS",
     .salloc_variables = "SALLOC_SPREAD_SEGMENTS",
     .srun_variables = "SLURM_SPREAD_SEGMENTS",
     .set = warn,
     .why = "the topology is flat"},
    {.name = "stepmgr",
     .commands = kAllocators,
     .set = warn,
     .why = "steps are made by the controller"},
    {.name = "switches",
     .argument = kRequired,
     .sbatch_variables = "SBATCH_REQ_SWITCH",
     .salloc_variables = "SALLOC_REQ_SWITCH",
     .srun_variables = "SLURM_REQ_SWITCH",
     .set = hint_switches,
     .why = "the topology is flat"},
    {.name = "threads",
     .letter = 'T',
     .argument = kRequired,
     .commands = kSrun,
     .srun_variables = "SLURM_THREADS",
     .set = hint_number,
     .why = "srun uses one thread"},
    {.name = "tres-bind",
     .argument = kRequired,
     .sbatch_variables = "SBATCH_TRES_BIND",
     .salloc_variables = "SALLOC_TRES_BIND",
     .srun_variables = "SLURM_TRES_BIND",
     .set = warn,
     .why = "use --gpu-bind"},
    {.name = "treewidth",
     .argument = kRequired,
     .commands = kSrun,
     .set = hint_tree_width,
     .why = "nodes are reached directly"},
};

constexpr Option kRefused[] = {
    {.name = "admin-comment",
     .argument = kRequired,
     .set = refuse,
     .why = "use scontrol update JobId=... AdminComment=..."},
    {.name = "batch",
     .argument = kRequired,
     .commands = kSbatch,
     .sbatch_variables = "SBATCH_BATCH",
     .set = refuse,
     .why = "the batch script runs on the first node"},
    {.name = "bb",
     .argument = kRequired,
     .salloc_variables = "SALLOC_BURST_BUFFER",
     .srun_variables = "SLURM_BURST_BUFFER",
     .set = refuse,
     .why = "there are no burst buffers"},
    {.name = "bbf", .argument = kRequired, .set = refuse, .why = "there are no burst buffers"},
    {.name = "cluster-constraint",
     .argument = kRequired,
     .set = refuse,
     .why = "this cluster is in no federation"},
    {.name = "container",
     .argument = kRequired,
     .sbatch_variables = "SBATCH_CONTAINER",
     .salloc_variables = "SALLOC_CONTAINER",
     .srun_variables = "SLURM_CONTAINER SRUN_CONTAINER",
     .set = refuse,
     .why = "start the container from the job script"},
    {.name = "container-id",
     .argument = kRequired,
     .sbatch_variables = "SBATCH_CONTAINER_ID",
     .salloc_variables = "SALLOC_CONTAINER_ID",
     .srun_variables = "SLURM_CONTAINER_ID SRUN_CONTAINER_ID",
     .set = refuse,
     .why = "start the container from the job script"},
    {.name = "container-type",
     .argument = kRequired,
     .sbatch_variables = "SBATCH_CONTAINER_TYPE",
     .salloc_variables = "SALLOC_CONTAINER_TYPE",
     .srun_variables = "SLURM_CONTAINER_TYPE SRUN_CONTAINER_TYPE",
     .set = refuse,
     .why = "start the container from the job script"},
    {.name = "gpu-freq",
     .argument = kRequired,
     .sbatch_variables = "SBATCH_GPU_FREQ",
     .salloc_variables = "SALLOC_GPU_FREQ",
     .srun_variables = "SLURM_GPU_FREQ",
     .set = refuse,
     .why = "no node can set the clocks of its GPUs"},
    {.name = "no-allocate",
     .letter = 'Z',
     .commands = kSrun,
     .set = refuse,
     .why = "tasks always run in an allocation"},
    {.name = "ntasks-per-tres",
     .argument = kRequired,
     .set = refuse,
     .why = "use --ntasks-per-gpu"},
    {.name = "reboot", .set = refuse, .why = "nodes are not booted for jobs"},
    {.name = "resources",
     .argument = kRequired,
     .set = refuse,
     .why = "there are no hierarchical resources"},
    {.name = "thread-spec",
     .argument = kRequired,
     .sbatch_variables = "SBATCH_THREAD_SPEC",
     .salloc_variables = "SALLOC_THREAD_SPEC",
     .srun_variables = "SLURM_THREAD_SPEC",
     .set = refuse,
     .why = "use --core-spec"},
    {.name = "x11",
     .argument = kOptional,
     .commands = kSalloc | kSrun,
     .set = refuse,
     .why = "use ssh -X to a node of the job"},
};

}  // namespace

std::span<const Option> hint_options() { return kHints; }
std::span<const Option> refused_options() { return kRefused; }

}  // namespace switchyard::options
