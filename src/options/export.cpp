#include "options/export.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace switchyard::options {
namespace {

bool is_of(const std::string& entry, std::string_view name) {
    return entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name);
}

// The next piece up to a comma that stands outside quotes; quotes are removed.
std::string take_item(std::string_view& rest) {
    std::string item;
    char quote = 0;
    while (!rest.empty()) {
        const char c = rest.front();
        rest.remove_prefix(1);
        if (quote == 0 && c == ',') break;
        if (quote == 0 && (c == '"' || c == '\'')) {
            quote = c;
        } else if (c == quote) {
            quote = 0;
        } else {
            item += c;
        }
    }
    return item;
}

void add_item(Environment& result, const Environment& caller, const std::string& item) {
    if (equals_ignoring_case(item, "ALL")) {
        for (const std::string& entry : caller) {
            const auto mark = entry.find('=');
            if (mark != std::string::npos)
                set_variable(result, entry.substr(0, mark), entry.substr(mark + 1));
        }
        return;
    }
    if (const auto mark = item.find('='); mark != std::string::npos) {
        set_variable(result, item.substr(0, mark), item.substr(mark + 1));
        return;
    }
    const auto found =
        std::ranges::find_if(caller, [&](const std::string& entry) { return is_of(entry, item); });
    if (found != caller.end()) set_variable(result, item, found->substr(item.size() + 1));
}

}  // namespace

void set_variable(Environment& environment, std::string_view name, std::string_view value) {
    std::string entry;
    entry.reserve(name.size() + 1 + value.size());
    entry.append(name).append(1, '=').append(value);
    for (std::string& present : environment) {
        if (is_of(present, name)) {
            present = std::move(entry);
            return;
        }
    }
    environment.push_back(std::move(entry));
}

void unset_variable(Environment& environment, std::string_view name) {
    std::erase_if(environment, [&](const std::string& entry) { return is_of(entry, name); });
}

std::string_view get_variable(const Environment& environment, std::string_view name) {
    for (const std::string& entry : environment) {
        if (is_of(entry, name)) return std::string_view(entry).substr(name.size() + 1);
    }
    return {};
}

ExportMode export_mode(std::string_view list) {
    if (equals_ignoring_case(list, "ALL")) return ExportMode::All;
    if (equals_ignoring_case(list, "NONE")) return ExportMode::None;
    if (equals_ignoring_case(list, "NIL")) return ExportMode::Nil;
    return ExportMode::Some;
}

Environment exported(Environment caller, std::string_view list) {
    const ExportMode mode = export_mode(list);
    if (mode == ExportMode::All) return caller;
    Environment result;
    for (const std::string& entry : caller) {
        if (entry.starts_with("SLURM_")) result.push_back(entry);
    }
    if (mode == ExportMode::None || mode == ExportMode::Nil) return result;
    while (!list.empty()) {
        const std::string item = take_item(list);
        if (!item.empty()) add_item(result, caller, item);
    }
    return result;
}

bool describes_a_job(std::string_view name) {
    static constexpr std::string_view kNames[] = {"SLURMD_DEBUG",
                                                  "SLURMD_NODENAME",
                                                  "SLURM_CLUSTER_NAME",
                                                  "SLURM_CPUS_ON_NODE",
                                                  "SLURM_CPUS_PER_GPU",
                                                  "SLURM_CPUS_PER_TASK",
                                                  "SLURM_DISTRIBUTION",
                                                  "SLURM_DIST_PLANESIZE",
                                                  "SLURM_EXPORT_ENV",
                                                  "SLURM_GET_USER_ENV",
                                                  "SLURM_GPUS",
                                                  "SLURM_GPUS_ON_NODE",
                                                  "SLURM_GPUS_PER_NODE",
                                                  "SLURM_GPUS_PER_SOCKET",
                                                  "SLURM_GPUS_PER_TASK",
                                                  "SLURM_GPU_BIND",
                                                  "SLURM_GPU_FREQ",
                                                  "SLURM_GTIDS",
                                                  "SLURM_HET_SIZE",
                                                  "SLURM_JOBID",
                                                  "SLURM_LAUNCH_NODE_IPADDR",
                                                  "SLURM_LOCALID",
                                                  "SLURM_MEM_PER_CPU",
                                                  "SLURM_MEM_PER_GPU",
                                                  "SLURM_MEM_PER_NODE",
                                                  "SLURM_NNODES",
                                                  "SLURM_NODEID",
                                                  "SLURM_NODELIST",
                                                  "SLURM_NODE_ALIASES",
                                                  "SLURM_NPROCS",
                                                  "SLURM_NTASKS",
                                                  "SLURM_NTASKS_PER_CORE",
                                                  "SLURM_NTASKS_PER_GPU",
                                                  "SLURM_NTASKS_PER_NODE",
                                                  "SLURM_NTASKS_PER_SOCKET",
                                                  "SLURM_OOM_KILL_STEP",
                                                  "SLURM_OVERCOMMIT",
                                                  "SLURM_PACK_SIZE",
                                                  "SLURM_PRIO_PROCESS",
                                                  "SLURM_PROCID",
                                                  "SLURM_PROFILE",
                                                  "SLURM_PTY_PORT",
                                                  "SLURM_PTY_WIN_COL",
                                                  "SLURM_PTY_WIN_ROW",
                                                  "SLURM_RESTART_COUNT",
                                                  "SLURM_SHARDS_ON_NODE",
                                                  "SLURM_SRUN_COMM_HOST",
                                                  "SLURM_SRUN_COMM_PORT",
                                                  "SLURM_STEPID",
                                                  "SLURM_SUBMIT_DIR",
                                                  "SLURM_SUBMIT_HOST",
                                                  "SLURM_TASKS_PER_NODE",
                                                  "SLURM_TASK_PID",
                                                  "SLURM_THREADS_PER_CORE",
                                                  "SLURM_TOPOLOGY_ADDR",
                                                  "SLURM_TOPOLOGY_ADDR_PATTERN",
                                                  "SLURM_TRES_PER_TASK",
                                                  "SLURM_UMASK",
                                                  "SRUN_DEBUG"};
    static constexpr std::string_view kPrefixes[] = {"SLURM_JOB_",     "SLURM_STEP_",
                                                     "SLURM_ARRAY_",   "SLURM_CPU_BIND",
                                                     "SLURM_MEM_BIND", "SLURM_RLIMIT_"};
    if (name.starts_with("SLURM_") &&
        (name.contains("_HET_GROUP_") || name.contains("_PACK_GROUP_")))
        return true;
    return std::ranges::any_of(kPrefixes, [&](auto prefix) { return name.starts_with(prefix); }) ||
           std::ranges::binary_search(kNames, name);
}

void remove_job_description(Environment& environment) {
    std::erase_if(environment, [](const std::string& entry) {
        return entry.starts_with("S") &&
               describes_a_job(std::string_view(entry).substr(0, entry.find('=')));
    });
}

}  // namespace switchyard::options
