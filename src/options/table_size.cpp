// table_size.cpp: how much a job asks for: nodes, tasks, processors, memory, generic resources.

#include <fmt/format.h>

#include "base/errc.hpp"
#include "model/gpu_bind.hpp"
#include "model/gres.hpp"
#include "options/setters.hpp"

namespace switchyard::options {
namespace {

using model::JobSpec;
using model::MemoryRequest;

constexpr std::uint64_t kCountMax = 0x7fffffff;

Fault bad_gres() { return {Fault::Kind::Fatal, std::string(errc_text(Errc::InvalidGres))}; }

Outcome set_nodes(Setting& s) {
    const Fault fault = bad_value(fmt::format("\"{}\" is not a valid node count", s.value));
    const auto dash = s.value.find('-');
    const auto least = model::parse_count(s.value.substr(0, dash));
    if (!least || *least > kCountMax) return fault;
    if (*least == 0)
        return Fault{Fault::Kind::Refused, std::string(errc_text(Errc::InvalidNodeCount))};
    std::uint64_t most = *least;
    if (dash != std::string_view::npos) {
        const auto given = model::parse_count(s.value.substr(dash + 1));
        if (!given || *given > kCountMax) return fault;
        if (*given < *least) {
            return bad_value(fmt::format("Maximum node count {} is less than minimum node count {}",
                                         *given, *least));
        }
        most = *given;
    }
    s.request.job.nodes_min = static_cast<std::uint32_t>(*least);
    s.request.job.nodes_max = static_cast<std::uint32_t>(most);
    s.shown = *least == most ? fmt::format("{}", most) : fmt::format("{}-{}", *least, most);
    return {};
}

template <MemoryRequest::Per Per>
Outcome set_memory(Setting& s) {
    const auto amount = model::parse_memory(s.value);
    if (!amount) return invalid_specification(s);
    s.request.job.memory = {Per, *amount};
    s.shown = model::format_memory(*amount);
    // The three are one request: what a stronger source says replaces what a weaker one said.
    for (const std::string_view other : {"mem", "mem-per-cpu", "mem-per-gpu"}) {
        if (other == s.option.name) continue;
        const auto given = s.request.given.find(other);
        if (given == s.request.given.end()) continue;
        if (given->second == s.source) {
            return Fault{Fault::Kind::Fatal,
                         "fatal: --mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive."};
        }
        s.request.shown.erase(std::string(other));
        s.request.given.erase(given);
    }
    return {};
}

Outcome set_tmp(Setting& s) {
    const auto amount = model::parse_memory(s.value);
    if (!amount) return invalid_specification(s);
    s.request.job.tmp_disk = *amount;
    return {};
}

Outcome set_exclusive(Setting& s) {
    using model::Exclusive;
    Exclusive& exclusive = s.request.job.exclusive;
    s.request.exclusive = true;
    if (!s.has_value || s.value.empty() || s.value == "exclusive" ||
        parse_switch(s.value) == true) {
        exclusive = Exclusive::Node;
        s.shown = "exclusive";
    } else if (equals_ignoring_case(s.value, "user")) {
        exclusive = Exclusive::User;
    } else if (equals_ignoring_case(s.value, "mcs")) {
        exclusive = Exclusive::Mcs;
    } else if (equals_ignoring_case(s.value, "topo")) {
        exclusive = Exclusive::Topo;
    } else {
        return invalid_specification(s);
    }
    return {};
}

Outcome set_distribution(Setting& s) {
    std::string text(s.value);
    if (text == "plane") {
        if (const auto size = s.surroundings.variable("SLURM_DIST_PLANESIZE")) text += "=" + *size;
    }
    const auto distribution = model::parse_distribution(text);
    if (text.starts_with("plane") && (!distribution || distribution->plane_size == 0)) {
        return bad_value(
            "Invalid plane size or size not specified\nInvalid --distribution specification");
    }
    if (!distribution) return invalid_specification(s);
    s.request.job.distribution = *distribution;
    return distribution->sockets.contains(':') ? warn(s) : Outcome{};
}

Outcome set_gpu_bind(Setting& s) {
    if (!model::is_gpu_bind(s.value)) {
        return bad_value(fmt::format("Invalid --gpu-bind argument: {}", s.value));
    }
    s.request.job.gpu_bind = std::string(s.value);
    return {};
}

// "2:4:1": sockets, cores of each, threads of each; '*' leaves one open.
Outcome set_extra_node_info(Setting& s) {
    const auto parts = split(s.value, ':');
    if (parts.empty() || parts.size() > 3) return invalid_specification(s);
    std::optional<std::uint32_t>* const fields[] = {&s.request.job.sockets_per_node,
                                                    &s.request.job.cores_per_socket,
                                                    &s.request.job.threads_per_core};
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (parts[i] == "*") continue;
        const auto number = parse_uint(parts[i]);
        if (!number || *number == 0 || *number > kCountMax) {
            constexpr std::string_view kPlaces[] = {"first", "second", "third"};
            return Fault{Fault::Kind::BadNumber,
                         fmt::format("Invalid numeric value \"{}\" for {} arg of -B.", parts[i],
                                     kPlaces[i])};
        }
        *fields[i] = static_cast<std::uint32_t>(*number);
    }
    constexpr std::string_view kLevels[] = {"sockets", "cores", "threads"};
    s.request.launch.level_bind = kLevels[parts.size() - 1];
    return {};
}

Outcome set_threads_per_core(Setting& s) {
    s.request.launch.level_bind = "threads";
    return store_count<&JobSpec::threads_per_core>(s);
}

Outcome set_hint(Setting& s) {
    if (s.value == "help") {
        s.request.ask.show_hints = true;
    } else if (s.value == "nomultithread") {
        s.request.job.threads_per_core = 1;
        s.request.launch.level_bind = "threads";
    } else if (s.value == "compute_bound") {
        s.request.job.threads_per_core = 1;
        s.request.launch.level_bind = "cores";
    } else if (s.value == "multithread") {
        // All threads of a core are used anyway.
        s.request.launch.level_bind = "threads";
    } else if (s.value == "memory_bound") {
        return Fault{Fault::Kind::Fatal,
                     "--hint=memory_bound is not supported: use --cores-per-socket and "
                     "--ntasks-per-socket instead"};
    } else {
        return Fault{Fault::Kind::Fatal,
                     fmt::format("unrecognized --hint argument \"{}\", see --hint=help", s.value)};
    }
    return {};
}

// "gpu:0", "0", "gpu=0": a term that asks for none of a kind.
bool asks_for_none(std::string_view term) {
    return term == "0" || term.ends_with(":0") || term.ends_with("=0");
}

Outcome set_gres(Setting& s) {
    if (s.value == "help" || s.value == "list") {
        s.request.ask.show_gres = true;
        return {};
    }
    std::string gres(s.value);
    // A step says so that it wants none of its job's cards; of a job there is nothing to take away.
    if (s.request.command == Command::Srun) {
        std::vector<std::string_view> terms = split(s.value, ',');
        const bool takes_away = std::erase_if(terms, asks_for_none) > 0;
        if (takes_away) gres = terms.empty() ? "none" : fmt::format("{}", fmt::join(terms, ","));
    }
    if (!model::parse_gres(gres)) return bad_gres();
    s.request.gres = std::move(gres);
    return {};
}

// "a100:2,v100:1" or "3" as requests for "gpu"; zero of a kind is none of it.
std::optional<std::vector<model::GresRequest>> parse_gpus(std::string_view text) {
    std::string gres;
    for (std::string_view term : split(text, ',')) {
        if (asks_for_none(term)) continue;
        if (!gres.empty()) gres += ',';
        if (!term.starts_with("gpu:")) gres += "gpu:";
        gres += term;
    }
    if (text.empty()) return std::nullopt;
    auto parsed = model::parse_gres(gres);
    if (!parsed) return std::nullopt;
    return *std::move(parsed);
}

template <auto Member>
Outcome set_gpus(Setting& s) {
    auto gpus = parse_gpus(s.value);
    if (!gpus) return bad_gres();
    s.request.job.*Member = *std::move(gpus);
    return {};
}

Outcome set_gpus_per_node(Setting& s) {
    const auto gpus = parse_gpus(s.value);
    if (!gpus) return bad_gres();
    s.request.gpus_per_node = model::to_string(*gpus);
    return {};
}

// "cpu:4,gres/gpu:1" or with '=' in place of the ':' before a count.
Outcome set_tres_per_task(Setting& s) {
    JobSpec& job = s.request.job;
    for (const std::string_view term : split(s.value, ',')) {
        const auto mark = term.find_first_of(":=");
        if (mark == std::string_view::npos) return invalid_specification(s);
        const std::string_view name = term.substr(0, mark), rest = term.substr(mark + 1);
        if (name == "cpu") {
            const auto count = parse_uint(rest);
            if (!count || *count == 0 || *count > kCountMax) return invalid_specification(s);
            job.cpus_per_task = static_cast<std::uint32_t>(*count);
        } else if (name == "gres/gpu") {
            std::string gpus(rest);
            for (char& c : gpus) c = c == '=' ? ':' : c;
            auto parsed = parse_gpus(gpus);
            if (!parsed) return bad_gres();
            job.gpus_per_task = *std::move(parsed);
        } else {
            return Fault{
                Fault::Kind::Fatal,
                fmt::format("--tres-per-task={} is not supported: only cpu and gres/gpu are",
                            name)};
        }
    }
    return {};
}

// Three of them say what happens anyway: a task can open all cards of its step, a job gets cores
// away from its cards where there are no others, and several tasks have shares of one card.
Outcome set_gres_flags(Setting& s) {
    const auto flags = split(s.value, ',');
    const Fault unknown = bad_value(fmt::format("Invalid --gres-flags specification: {}", s.value));
    if (flags.empty()) return unknown;
    for (const std::string_view flag : flags) {
        if (flag == "allow-task-sharing" || flag == "disable-binding" ||
            flag == "multiple-tasks-per-sharing") {
            continue;
        }
        if (flag == "enforce-binding" || flag == "one-task-per-sharing") {
            return Fault{Fault::Kind::Fatal,
                         fmt::format("--gres-flags={} is not supported: {}", flag,
                                     flag == "enforce-binding"
                                         ? "cores near a job's cards are preferred, never required"
                                         : "shares of cards are asked for by node, not by task")};
        }
        return unknown;
    }
    return {};
}

constexpr auto kRequired = Argument::Required;

constexpr Option kNodesAndTasks[] = {
    {.name = "nodes",
     .letter = 'N',
     .argument = kRequired,
     .srun_variables = "SLURM_NNODES SLURM_JOB_NUM_NODES",
     .group = Group::Run,
     .value_name = "N",
     .help = "number of nodes to run on (N = min[-max])",
     .set = set_nodes},
    {.name = "ntasks",
     .letter = 'n',
     .argument = kRequired,
     .srun_variables = "SLURM_NPROCS SLURM_NTASKS",
     .group = Group::Run,
     .value_name = "ntasks",
     .help = "number of tasks to run",
     .set = store_count<&JobSpec::tasks>},
    {.name = "cpus-per-task",
     .letter = 'c',
     .argument = kRequired,
     .srun_variables = "SRUN_CPUS_PER_TASK",
     .group = Group::Run,
     .value_name = "ncpus",
     .help = "number of cpus required per task",
     .set = store_count<&JobSpec::cpus_per_task>},
    {.name = "ntasks-per-node",
     .argument = kRequired,
     .srun_variables = "SLURM_NTASKS_PER_NODE",
     .group = Group::Run,
     .value_name = "n",
     .help = "number of tasks to invoke on each node",
     .set = store_count<&JobSpec::tasks_per_node, 0>},
    {.name = "tasks-per-node",
     .argument = kRequired,
     .group = Group::Run,
     .set = store_count<&JobSpec::tasks_per_node, 0>,
     .same_as = "ntasks-per-node"},
    {.name = "ntasks-per-core",
     .argument = kRequired,
     .srun_variables = "SLURM_NTASKS_PER_CORE",
     .group = Group::Affinity,
     .value_name = "n",
     .help = "number of tasks to invoke on each core",
     .set = store_count<&JobSpec::tasks_per_core>},
    {.name = "ntasks-per-socket",
     .argument = kRequired,
     .srun_variables = "SLURM_NTASKS_PER_SOCKET",
     .group = Group::Affinity,
     .value_name = "n",
     .help = "number of tasks to invoke on each socket",
     .set = store_count<&JobSpec::tasks_per_socket>},
    {.name = "ntasks-per-gpu",
     .argument = kRequired,
     .srun_variables = "SLURM_NTASKS_PER_GPU",
     .group = Group::Gpu,
     .value_name = "n",
     .help = "number of tasks to invoke for each GPU",
     .set = store_count<&JobSpec::tasks_per_gpu>},
    {.name = "overcommit",
     .letter = 'O',
     .sbatch_variables = "SBATCH_OVERCOMMIT",
     .salloc_variables = "SALLOC_OVERCOMMIT",
     .srun_variables = "SLURM_OVERCOMMIT",
     .group = Group::Run,
     .help = "let several tasks share a processor",
     .set = store_flag<&JobSpec::overcommit>},
    {.name = "oversubscribe",
     .letter = 's',
     .group = Group::Run,
     .help = "share nodes with other jobs",
     .set = store_flag<&JobSpec::oversubscribe>},
    {.name = "share",
     .group = Group::Run,
     .set = store_flag<&JobSpec::oversubscribe>,
     .same_as = "oversubscribe"},
    {.name = "exclusive",
     .argument = Argument::Optional,
     .sbatch_variables = "SBATCH_EXCLUSIVE",
     .salloc_variables = "SALLOC_EXCLUSIVE",
     .srun_variables = "SLURM_EXCLUSIVE",
     .group = Group::Constraints,
     .value_name = "user|mcs|topo",
     .help = "no other job on the nodes of this one; for a step of a job: "
             "processors of its own",
     .set = set_exclusive},
    {.name = "distribution",
     .letter = 'm',
     .argument = kRequired,
     .sbatch_variables = "SBATCH_DISTRIBUTION",
     .srun_variables = "SLURM_DISTRIBUTION",
     .group = Group::Run,
     .value_name = "type",
     .help = "how tasks spread over nodes (block, cyclic, arbitrary, plane=n) and, behind a "
             "colon, over sockets (block, cyclic, fcyclic)",
     .set = set_distribution,
     .why = "the third part is not followed: tasks get whole cores"},
    {.name = "contiguous",
     .group = Group::Constraints,
     .help = "demand a contiguous range of nodes",
     .set = store_flag<&JobSpec::contiguous>},
    {.name = "spread-job",
     .sbatch_variables = "SBATCH_SPREAD_JOB",
     .salloc_variables = "SALLOC_SPREAD_JOB",
     .srun_variables = "SLURM_SPREAD_JOB",
     .group = Group::Run,
     .help = "spread the job over as many nodes as possible",
     .set = store_flag<&JobSpec::spread>},
    {.name = "use-min-nodes",
     .sbatch_variables = "SBATCH_USE_MIN_NODES",
     .salloc_variables = "SALLOC_USE_MIN_NODES",
     .srun_variables = "SLURM_USE_MIN_NODES",
     .group = Group::Run,
     .help = "of a range of node counts, use the smallest",
     .set = store_flag<&JobSpec::use_min_nodes>},
};

constexpr Option kNodeShape[] = {
    {.name = "extra-node-info",
     .letter = 'B',
     .argument = kRequired,
     .group = Group::Affinity,
     .value_name = "S[:C[:T]]",
     .help = "sockets per node, cores per socket and threads per core, at least",
     .set = set_extra_node_info},
    {.name = "sockets-per-node",
     .argument = kRequired,
     .group = Group::Affinity,
     .value_name = "S",
     .help = "number of sockets per node, at least",
     .set = store_count<&JobSpec::sockets_per_node>},
    {.name = "cores-per-socket",
     .argument = kRequired,
     .group = Group::Affinity,
     .value_name = "C",
     .help = "number of cores per socket, at least",
     .set = store_count<&JobSpec::cores_per_socket>},
    {.name = "threads-per-core",
     .argument = kRequired,
     .sbatch_variables = "SBATCH_THREADS_PER_CORE",
     .salloc_variables = "SALLOC_THREADS_PER_CORE",
     .srun_variables = "SLURM_THREADS_PER_CORE",
     .group = Group::Affinity,
     .value_name = "T",
     .help = "number of threads per core to use",
     .set = set_threads_per_core},
    {.name = "hint",
     .argument = kRequired,
     .sbatch_variables = "SLURM_HINT SBATCH_HINT",
     .salloc_variables = "SLURM_HINT SALLOC_HINT",
     .srun_variables = "SLURM_HINT",
     .group = Group::Affinity,
     .value_name = "hint",
     .help = "how the application uses processors (--hint=help lists)",
     .set = set_hint},
    {.name = "mincpus",
     .argument = kRequired,
     .group = Group::Constraints,
     .value_name = "n",
     .help = "minimum number of processors per node",
     .set = store_count<&JobSpec::cpus_per_node_min>},
    {.name = "core-spec",
     .letter = 'S',
     .argument = kRequired,
     .sbatch_variables = "SBATCH_CORE_SPEC",
     .salloc_variables = "SALLOC_CORE_SPEC",
     .srun_variables = "SLURM_CORE_SPEC",
     .group = Group::Run,
     .value_name = "cores",
     .help = "cores of each node to reserve for the system",
     .set = store_count<&JobSpec::core_spec, 0>},
    {.name = "mem",
     .argument = kRequired,
     .sbatch_variables = "SBATCH_MEM_PER_NODE",
     .salloc_variables = "SALLOC_MEM_PER_NODE",
     .srun_variables = "SLURM_MEM_PER_NODE",
     .group = Group::Consumable,
     .value_name = "MB",
     .help = "memory per node (0: all of it)",
     .set = set_memory<MemoryRequest::Per::Node>},
    {.name = "mem-per-cpu",
     .argument = kRequired,
     .sbatch_variables = "SBATCH_MEM_PER_CPU",
     .salloc_variables = "SALLOC_MEM_PER_CPU",
     .srun_variables = "SLURM_MEM_PER_CPU",
     .group = Group::Consumable,
     .value_name = "MB",
     .help = "memory per allocated processor",
     .set = set_memory<MemoryRequest::Per::Cpu>},
    {.name = "mem-per-gpu",
     .argument = kRequired,
     .sbatch_variables = "SBATCH_MEM_PER_GPU",
     .salloc_variables = "SALLOC_MEM_PER_GPU",
     .srun_variables = "SLURM_MEM_PER_GPU",
     .group = Group::Gpu,
     .value_name = "MB",
     .help = "memory per allocated GPU",
     .set = set_memory<MemoryRequest::Per::Gpu>},
    {.name = "tmp",
     .argument = kRequired,
     .group = Group::Constraints,
     .value_name = "MB",
     .help = "minimum size of the temporary disk",
     .set = set_tmp},
};

constexpr Option kGres[] = {
    {.name = "gres",
     .argument = kRequired,
     .sbatch_variables = "SBATCH_GRES",
     .salloc_variables = "SALLOC_GRES",
     .srun_variables = "SLURM_GRES SLURM_STEP_GRES",
     .group = Group::Run,
     .value_name = "list",
     .help = "generic resources per node (gpu:2, gpu:type:1, shard:16)",
     .set = set_gres},
    {.name = "gres-flags",
     .argument = kRequired,
     .sbatch_variables = "SBATCH_GRES_FLAGS",
     .salloc_variables = "SALLOC_GRES_FLAGS",
     .srun_variables = "SLURM_GRES_FLAGS",
     .group = Group::Run,
     .value_name = "flags",
     .help = "options of the handling of generic resources",
     .set = set_gres_flags,
     .why = "enforce-binding and one-task-per-sharing are refused"},
    {.name = "gpus",
     .letter = 'G',
     .argument = kRequired,
     .sbatch_variables = "SBATCH_GPUS",
     .salloc_variables = "SALLOC_GPUS",
     .srun_variables = "SLURM_GPUS",
     .group = Group::Gpu,
     .value_name = "n",
     .help = "number of GPUs for the whole job",
     .set = set_gpus<&JobSpec::gpus_per_job>},
    {.name = "gpus-per-node",
     .argument = kRequired,
     .sbatch_variables = "SBATCH_GPUS_PER_NODE",
     .salloc_variables = "SALLOC_GPUS_PER_NODE",
     .srun_variables = "SLURM_GPUS_PER_NODE",
     .group = Group::Gpu,
     .value_name = "n",
     .help = "number of GPUs per node",
     .set = set_gpus_per_node},
    {.name = "gpus-per-socket",
     .argument = kRequired,
     .sbatch_variables = "SBATCH_GPUS_PER_SOCKET",
     .salloc_variables = "SALLOC_GPUS_PER_SOCKET",
     .srun_variables = "SLURM_GPUS_PER_SOCKET",
     .group = Group::Gpu,
     .value_name = "n",
     .help = "number of GPUs per socket",
     .set = set_gpus<&JobSpec::gpus_per_socket>},
    {.name = "gpus-per-task",
     .argument = kRequired,
     .sbatch_variables = "SBATCH_GPUS_PER_TASK",
     .salloc_variables = "SALLOC_GPUS_PER_TASK",
     .srun_variables = "SLURM_GPUS_PER_TASK",
     .group = Group::Gpu,
     .value_name = "n",
     .help = "number of GPUs per task",
     .set = set_gpus<&JobSpec::gpus_per_task>},
    {.name = "cpus-per-gpu",
     .argument = kRequired,
     .sbatch_variables = "SBATCH_CPUS_PER_GPU",
     .salloc_variables = "SALLOC_CPUS_PER_GPU",
     .srun_variables = "SLURM_CPUS_PER_GPU",
     .group = Group::Gpu,
     .value_name = "n",
     .help = "number of processors per allocated GPU",
     .set = store_count<&JobSpec::cpus_per_gpu>},
    {.name = "gpu-bind",
     .argument = kRequired,
     .sbatch_variables = "SBATCH_GPU_BIND",
     .salloc_variables = "SALLOC_GPU_BIND",
     .srun_variables = "SLURM_GPU_BIND",
     .group = Group::Gpu,
     .value_name = "type",
     .help = "which GPUs of the node each task sees",
     .set = set_gpu_bind},
    {.name = "tres-per-task",
     .argument = kRequired,
     .sbatch_variables = "SBATCH_TRES_PER_TASK",
     .salloc_variables = "SALLOC_TRES_PER_TASK",
     .srun_variables = "SLURM_TRES_PER_TASK",
     .group = Group::Consumable,
     .value_name = "list",
     .help = "resources per task (cpu:4,gres/gpu:1)",
     .set = set_tres_per_task},
};

}  // namespace

std::span<const Option> node_and_task_options() { return kNodesAndTasks; }
std::span<const Option> node_shape_options() { return kNodeShape; }
std::span<const Option> gres_options() { return kGres; }

}  // namespace switchyard::options
