// table_step.cpp: options of srun alone: how tasks are launched, bound, fed and watched.
#include <algorithm>

#include <fmt/format.h>

#include "options/het.hpp"
#include "options/setters.hpp"

namespace switchyard::options {
namespace {

Fault unknown_word(const Setting& s, std::string_view word) {
    return bad_value(fmt::format("unrecognized --{} argument \"{}\"", s.option.name, word));
}

// Words joined by commas; a word that ends in ':' or '=' takes all the rest as its list.
template <std::size_t N, std::size_t M>
Outcome check_words(const Setting& s, const std::string_view (&words)[N],
                    const std::string_view (&lists)[M]) {
    std::string_view rest = s.value;
    while (!rest.empty()) {
        const bool takes_rest = std::ranges::any_of(lists, [&](std::string_view list) {
            return starts_with_ignoring_case(rest, list) && rest.size() > list.size();
        });
        if (takes_rest) return {};
        const auto comma = rest.find(',');
        const std::string_view word = rest.substr(0, comma);
        if (!std::ranges::any_of(words,
                                 [&](auto known) { return equals_ignoring_case(known, word); })) {
            return unknown_word(s, word);
        }
        rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
    return {};
}

Outcome set_cpu_bind(Setting& s) {
    static constexpr std::string_view kWords[] = {
        "q",      "quiet",  "v",         "verbose", "n",      "no",        "none",
        "nobind", "rank",   "rank_ldom", "help",    "socket", "sockets",   "core",
        "cores",  "thread", "threads",   "ldom",    "ldoms",  "one_thread"};
    static constexpr std::string_view kLists[] = {
        "map_cpu=", "mask_cpu=", "map_ldom=", "mask_ldom=",
        "map_cpu:", "mask_cpu:", "map_ldom:", "mask_ldom:"};
    if (Outcome fault = check_words(s, kWords, kLists)) {
        fault->kind = Fault::Kind::Fatal;
        for (const std::string_view list : kLists) {
            if (s.value.ends_with(list.substr(0, list.size() - 1)))
                fault->text = fmt::format("missing list for \"--cpu-bind={}<list>\"", list);
        }
        fault->text += "\nfatal: Failed to parse --cpu-bind= values.";
        return fault;
    }
    if (equals_ignoring_case(s.value, "rank")) {
        s.request.notes.push_back("Ignoring --cpu-bind=rank. Rank binding is obsolete.");
        return {};
    }
    s.request.launch.cpu_bind = std::string(s.value);
    return {};
}

Outcome set_mem_bind(Setting& s) {
    static constexpr std::string_view kWords[] = {"q",    "quiet",  "v",      "verbose", "n",
                                                  "no",   "none",   "nobind", "rank",    "local",
                                                  "help", "prefer", "p"};
    static constexpr std::string_view kLists[] = {"map_mem:", "mask_mem:", "map_mem=", "mask_mem="};
    if (Outcome fault = check_words(s, kWords, kLists)) return fault;
    s.request.launch.mem_bind = std::string(s.value);
    return {};
}

Outcome set_kill_on_bad_exit(Setting& s) {
    const auto value =
        s.has_value && !s.value.empty() ? parse_uint(s.value) : std::optional<std::uint64_t>(1);
    if (!value) return invalid_number(s);
    s.request.launch.kill_on_bad_exit = *value != 0;
    s.shown = *value != 0 ? "set" : "unset";
    return {};
}

Outcome set_ignored_signals(Setting& s) {
    s.request.launch.ignored_signals.clear();
    for (const std::string_view word : split(s.value, ',')) {
        const auto signal = model::parse_signal(word);
        if (!signal) return bad_value(fmt::format("Invalid signal name or number: {}", word));
        s.request.launch.ignored_signals.push_back(*signal);
    }
    return {};
}

Outcome set_bcast(Setting& s) {
    s.request.launch.bcast = std::string(s.value);
    return {};
}

Outcome set_het_group(Setting& s) {
    if (!parse_het_groups(s.value)) return invalid_specification(s);
    s.request.launch.het_group = std::string(s.value);
    return {};
}

Outcome set_resv_ports(Setting& s) {
    const bool counted = s.has_value && !s.value.empty();
    const auto count = counted ? parse_uint(s.value) : std::optional<std::uint64_t>(0);
    if (!count || *count > 0xffff) {
        return Fault{Fault::Kind::BadNumber,
                     fmt::format("Invalid numeric value \"{}\" for --resv-port.", s.value)};
    }
    if (s.request.command != Command::Srun) return warn(s);
    s.request.launch.resv_ports = 0;
    if (!counted) return {};
    // None asked for is none at all.
    s.request.launch.resv_ports.reset();
    if (*count > 0) s.request.launch.resv_ports = static_cast<std::uint32_t>(*count);
    return {};
}

Outcome set_job_id(Setting& s) {
    const auto selector = model::parse_job_selector(s.value);
    if (!selector || selector->step || selector->job.value == 0) return invalid_specification(s);
    if (selector->elements || selector->all_elements) {
        return bad_value(
            fmt::format("--jobid={}: name a job array element by its own job id", s.value));
    }
    s.request.ask.job_id = selector->job;
    return {};
}

Outcome set_pty(Setting& s) {
    if (s.has_value && !s.value.empty() && parse_switch(s.value) != true) {
        return Fault{Fault::Kind::Fatal,
                     "--pty=<file> is not supported: the terminal of srun is used"};
    }
    s.request.launch.pty = true;
    s.shown = "set";
    return {};
}

constexpr auto kRequired = Argument::Required;
using Launch = LaunchSettings;

constexpr Option kStep[] = {
    {.name = "jobid",
     .argument = kRequired,
     .commands = kSrun,
     .srun_variables = "SLURM_JOBID SLURM_JOB_ID",
     .value_name = "id",
     .help = "run in the allocation of this job",
     .set = set_job_id},
    {.name = "label",
     .letter = 'l',
     .commands = kSrun,
     .srun_variables = "SLURM_LABELIO",
     .help = "prefix each line with the number of its task",
     .set = store_flag<&Launch::label>},
    {.name = "unbuffered",
     .letter = 'u',
     .commands = kSrun,
     .srun_variables = "SLURM_UNBUFFEREDIO",
     .help = "do not hold output back until a line is complete",
     .set = store_flag<&Launch::unbuffered>},
    {.name = "pty",
     .argument = Argument::Optional,
     .commands = kSrun,
     .help = "run task 0 in a pseudo terminal",
     .set = set_pty},
    {.name = "multi-prog",
     .commands = kSrun,
     .help = "the argument is a file that says which task runs what",
     .set = store_flag<&Launch::multi_prog>},
    {.name = "kill-on-bad-exit",
     .letter = 'K',
     .argument = Argument::Optional,
     .commands = kSrun,
     .srun_variables = "SLURM_KILL_BAD_EXIT",
     .value_name = "0|1",
     .help = "end the step when a task fails",
     .set = set_kill_on_bad_exit},
    {.name = "ignore-signals",
     .argument = kRequired,
     .commands = kSrun,
     .value_name = "signals",
     .help = "signals that srun takes no notice of, names or numbers with commas",
     .set = set_ignored_signals},
    {.name = "wait",
     .letter = 'W',
     .argument = kRequired,
     .commands = kSrun,
     .srun_variables = "SLURM_WAIT",
     .value_name = "sec",
     .help = "end the step so many seconds after its first task has ended",
     .set = store_count<&Launch::wait_seconds, 0>},
    {.name = "overlap",
     .commands = kSrun,
     .srun_variables = "SLURM_OVERLAP",
     .help = "share processors with other steps of the job",
     .set = store_flag<&Launch::overlap>},
    {.name = "exact",
     .commands = kSrun,
     .srun_variables = "SLURM_EXACT",
     .help = "use only the resources that the step asks for",
     .set = store_flag<&Launch::exact>},
    {.name = "async",
     .commands = kSrun,
     .help = "leave when the tasks have started; their output goes to files (see swait)",
     .set = store_flag<&Launch::async>},
    {.name = "interactive",
     .commands = kSrun,
     .srun_variables = "SLURM_INTERACTIVE",
     .help = "run as the interactive step of an allocation",
     .set = store_flag<&Launch::interactive>},
    {.name = "relative",
     .letter = 'r',
     .argument = kRequired,
     .commands = kSrun,
     .value_name = "n",
     .help = "begin with node n of the allocation",
     .set = store_count<&Launch::relative, 0>},
    {.name = "cpu-bind",
     .argument = kRequired,
     .commands = kSrun,
     .srun_variables = "SLURM_CPU_BIND",
     .group = Group::Affinity,
     .value_name = "type",
     .help = "bind tasks to processors (none, cores, threads, "
             "sockets, rank, map_cpu:list ...)",
     .set = set_cpu_bind},
    {.name = "cpu_bind",
     .argument = kRequired,
     .commands = kSrun,
     .set = set_cpu_bind,
     .same_as = "cpu-bind"},
    {.name = "mem-bind",
     .argument = kRequired,
     .sbatch_variables = "SBATCH_MEM_BIND",
     .salloc_variables = "SALLOC_MEM_BIND",
     .srun_variables = "SLURM_MEM_BIND",
     .group = Group::Affinity,
     .value_name = "type",
     .help = "bind memory to locality domains",
     .set = set_mem_bind},
    {.name = "mem_bind", .argument = kRequired, .set = set_mem_bind, .same_as = "mem-bind"},
    {.name = "mpi",
     .argument = kRequired,
     .commands = kSrun,
     .srun_variables = "SLURM_MPI_TYPE",
     .value_name = "type",
     .help = "kind of MPI (list shows them)",
     .set = store_text<&Launch::mpi>},
    {.name = "disable-status",
     .letter = 'X',
     .commands = kSrun,
     .srun_variables = "SLURM_DISABLE_STATUS",
     .help = "hand Ctrl-C on at once, without showing the state of the tasks",
     .set = store_flag<&Launch::disable_status>},
    {.name = "quit-on-interrupt",
     .commands = kSrun,
     .help = "end on a single Ctrl-C",
     .set = store_flag<&Launch::quit_on_interrupt>},
    {.name = "external-launcher",
     .commands = kSrun,
     .srun_variables = "SLURM_EXTERNAL_LAUNCHER",
     .help = "the step starts a launcher that starts the tasks itself",
     .set = store_flag<&Launch::external_launcher>},
    {.name = "prolog",
     .argument = kRequired,
     .commands = kSrun,
     .srun_variables = "SLURM_PROLOG",
     .value_name = "program",
     .help = "run this on srun's host before the step",
     .set = store_text<&Launch::prolog>},
    {.name = "epilog",
     .argument = kRequired,
     .commands = kSrun,
     .srun_variables = "SLURM_EPILOG",
     .value_name = "program",
     .help = "run this on srun's host after the step",
     .set = store_text<&Launch::epilog>},
    {.name = "task-prolog",
     .argument = kRequired,
     .commands = kSrun,
     .srun_variables = "SLURM_TASK_PROLOG",
     .value_name = "program",
     .help = "run this before each task; lines \"export K=V\" it prints count for the task",
     .set = store_text<&Launch::task_prolog>},
    {.name = "task-epilog",
     .argument = kRequired,
     .commands = kSrun,
     .srun_variables = "SLURM_TASK_EPILOG",
     .value_name = "program",
     .help = "run this after each task",
     .set = store_text<&Launch::task_epilog>},
    {.name = "wait-for-children",
     .commands = kSrun,
     .help = "the step ends when all processes of its tasks have, not only the first of each",
     .set = store_flag<&Launch::wait_for_children>},
    {.name = "bcast",
     .argument = Argument::Optional,
     .commands = kSrun,
     .srun_variables = "SLURM_BCAST",
     .value_name = "file",
     .help = "copy the program to every node first, and run the copy",
     .set = set_bcast},
    {.name = "bcast-exclude",
     .argument = kRequired,
     .commands = kSrun,
     .srun_variables = "SLURM_BCAST_EXCLUDE",
     .value_name = "NONE|paths",
     .help = "folders whose libraries are not copied",
     .set = store_text<&Launch::bcast_exclude>},
    {.name = "send-libs",
     .argument = Argument::Optional,
     .commands = kSrun,
     .srun_variables = "SLURM_SEND_LIBS",
     .value_name = "yes|no",
     .help = "with --bcast: copy the libraries of the program too",
     .set = store_switch<&Launch::send_libs>},
    {.name = "het-group",
     .argument = kRequired,
     .commands = kSrun,
     .value_name = "list",
     .help = "components of a heterogeneous job to run in",
     .set = set_het_group},
    {.name = "resv-ports",
     .argument = Argument::Optional,
     .srun_variables = "SLURM_RESV_PORTS",
     .value_name = "count",
     .help = "reserve ports on the nodes of the step (SLURM_STEP_RESV_PORTS)",
     .set = set_resv_ports,
     .why = "ports are reserved by steps, not by jobs; give it to srun"},
};

}  // namespace

std::span<const Option> step_options() { return kStep; }

}  // namespace switchyard::options
