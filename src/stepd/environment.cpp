#include "stepd/environment.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "model/array_environment.hpp"
#include "model/dependency.hpp"
#include "model/hostlist.hpp"
#include "model/launcher_environment.hpp"
#include "model/resources.hpp"
#include "model/sluid.hpp"
#include "stepd/gpu_environment.hpp"

namespace switchyard::stepd {
namespace {

// A job without a time limit is said to end in a year, as Slurm does.
constexpr Seconds kUnlimitedShown{31536000};

bool names(std::string_view entry, std::string_view name) {
    return entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name);
}

std::string node_list(const std::vector<std::string>& nodes) {
    return model::compress_hostlist(nodes);
}

std::vector<std::string> step_nodes(const Launch& launch) {
    std::vector<std::string> nodes;
    for (const model::StepNode& node : launch.layout.nodes) nodes.push_back(node.grant.node);
    return nodes;
}

std::string step_tasks_per_node(const Launch& launch) {
    std::vector<std::uint32_t> counts;
    for (const model::StepNode& node : launch.layout.nodes) {
        counts.push_back(static_cast<std::uint32_t>(node.tasks.size()));
    }
    return model::compress_counts(counts);
}

void set_if(Environment& env, std::string_view name, const std::string& value) {
    if (!value.empty()) env.set(name, value);
}

void set_if(Environment& env, std::string_view name, const std::optional<std::uint32_t>& value) {
    if (value) env.set(name, *value);
}

// Who and what the job is: the same for the script and for every task.
void set_job(Environment& env, const Launch& launch) {
    const model::JobSpec& spec = *launch.job.spec;
    env.set("SLURM_CLUSTER_NAME", launch.cluster);
    env.set("SLURM_CONF", launch.config_path);
    env.set("SLURMD_NODENAME", launch.node);
    env.set("SLURM_TOPOLOGY_ADDR", launch.node);
    env.set("SLURM_TOPOLOGY_ADDR_PATTERN", "node");
    env.set("SLURM_JOB_ID", launch.job.id.value);
    env.set("SLURM_JOBID", launch.job.id.value);
    env.set("SLURM_JOB_SLUID", model::sluid_of(launch.job, launch.cluster));
    env.set("SLURM_JOB_PARTITION", launch.job.partition);
    env.set("SLURM_JOB_UID", spec.uid);
    env.set("SLURM_JOB_GID", spec.gid);
    env.set("SLURM_JOB_USER", launch.user);
    env.set("SLURM_SUBMIT_HOST", spec.submit_host);
    env.set("SLURM_OOM_KILL_STEP", "0");
    if (!env.has("SLURM_PRIO_PROCESS")) env.set("SLURM_PRIO_PROCESS", "0");
    set_if(env, "SLURM_JOB_ACCOUNT", spec.account);
    set_if(env, "SLURM_JOB_QOS", spec.qos);
    if (const model::Running* run = model::run_of(launch.job)) {
        set_if(env, "SLURM_JOB_RESERVATION", run->reservation);
        set_if(env, "SLURM_JOB_LICENSES", run->licenses);
    }
    set_if(env, "SLURM_WCKEY", spec.wckey);
    if (launch.job.restarts > 0) env.set("SLURM_RESTART_COUNT", launch.job.restarts);
    if (!spec.dependency.terms.empty()) {
        env.set("SLURM_JOB_DEPENDENCY", model::to_string(spec.dependency));
    }
}

// For mpirun and its like, which start their own launchers by srun.
void set_launchers(Environment& env) {
    for (const auto& [name, value] :
         model::launcher_variables([&](std::string_view name) { return env.has(name); }))
        env.set(name, value);
}

void set_times(Environment& env, const Launch& launch) {
    const model::Running* run = model::run_of(launch.job);
    if (run == nullptr) return;
    const Instant end = run->ends_by.value_or(run->started + kUnlimitedShown);
    env.set("SLURM_JOB_START_TIME", fmt::to_string(unix_seconds(run->started)));
    env.set("SLURM_JOB_END_TIME", fmt::to_string(unix_seconds(end)));
}

void set_allocation(Environment& env, const Launch& launch) {
    const model::Allocation* allocation = model::allocation_of(launch.job);
    if (allocation == nullptr) return;
    const std::string nodes = node_list(allocation->node_names());
    env.set("SLURM_JOB_NODELIST", nodes);
    env.set("SLURM_NODELIST", nodes);
    env.set("SLURM_JOB_NUM_NODES", allocation->nodes.size());
    env.set("SLURM_NNODES", allocation->nodes.size());
    env.set("SLURM_JOB_CPUS_PER_NODE", model::compress_counts(model::cpus_per_node(*allocation)));
    env.set("SLURM_TASKS_PER_NODE", model::compress_counts(model::tasks_per_node(*allocation)));
}

void set_array(Environment& env, const Launch& launch) {
    if (!launch.job.array || !launch.job.array->element) return;
    for (const auto& [name, value] : model::array_variables(*launch.job.array))
        env.set(name, value);
}

void set_memory(Environment& env, const model::MemoryRequest& memory,
                const std::string& tail = {}) {
    using Per = model::MemoryRequest::Per;
    if (memory.per == Per::Unset) return;
    for (const char* name : {"SLURM_MEM_PER_CPU", "SLURM_MEM_PER_NODE", "SLURM_MEM_PER_GPU"})
        env.unset(name + tail);
    const char* name = memory.per == Per::Cpu    ? "SLURM_MEM_PER_CPU"
                       : memory.per == Per::Node ? "SLURM_MEM_PER_NODE"
                                                 : "SLURM_MEM_PER_GPU";
    env.set(name + tail, memory.amount.value);
}

void set_component(Environment& env, const model::Job& job, const std::string& tail) {
    const model::JobSpec& spec = *job.spec;
    env.set("SLURM_JOB_ID" + tail, job.id.value);
    env.set("SLURM_JOB_NAME" + tail, spec.name);
    env.set("SLURM_JOB_PARTITION" + tail, job.partition);
    set_if(env, "SLURM_JOB_ACCOUNT" + tail, spec.account);
    set_if(env, "SLURM_JOB_QOS" + tail, spec.qos);
    set_if(env, "SLURM_CPUS_PER_TASK" + tail, spec.cpus_per_task);
    if (spec.cpus_per_task)
        env.set("SLURM_TRES_PER_TASK" + tail, fmt::format("cpu={}", *spec.cpus_per_task));
    set_if(env, "SLURM_NTASKS" + tail, spec.tasks);
    set_if(env, "SLURM_NPROCS" + tail, spec.tasks);
    set_if(env, "SLURM_NTASKS_PER_NODE" + tail, spec.tasks_per_node);
    set_memory(env, spec.memory, tail);
    const model::Allocation* allocation = model::allocation_of(job);
    if (allocation == nullptr) return;
    env.set("SLURM_JOB_NODELIST" + tail, node_list(allocation->node_names()));
    env.set("SLURM_JOB_NUM_NODES" + tail, allocation->nodes.size());
    env.set("SLURM_JOB_CPUS_PER_NODE" + tail,
            model::compress_counts(model::cpus_per_node(*allocation)));
    env.set("SLURM_TASKS_PER_NODE" + tail,
            model::compress_counts(model::tasks_per_node(*allocation)));
}

// A heterogeneous job: how many components, and what each of them has, by the name of today and
// by that of old.
void set_components(Environment& env, const Launch& launch) {
    if (launch.components.empty()) return;
    for (const char* name : {"SLURM_HET_SIZE", "SLURM_PACK_SIZE"})
        env.set(name, launch.components.size());
    for (const model::Job& job : launch.components) {
        for (const char* tail : {"_HET_GROUP_", "_PACK_GROUP_"})
            set_component(env, job, fmt::format("{}{}", tail, job.het ? job.het->offset : 0));
    }
}

// "2" or "rtx4000:2": the text of --gpus and its sisters.
std::string gpu_text(const std::vector<model::GresRequest>& gpus) {
    std::vector<std::string> pieces;
    for (const model::GresRequest& gpu : gpus) {
        pieces.push_back(gpu.type.empty() ? fmt::to_string(gpu.count)
                                          : fmt::format("{}:{}", gpu.type, gpu.count));
    }
    return fmt::to_string(fmt::join(pieces, ","));
}

// What sbatch was asked for and tells on.
void set_request(Environment& env, const model::JobSpec& spec) {
    set_memory(env, spec.memory);
    set_if(env, "SLURM_CPUS_PER_TASK", spec.cpus_per_task);
    if (spec.cpus_per_task)
        env.set("SLURM_TRES_PER_TASK", fmt::format("cpu={}", *spec.cpus_per_task));
    set_if(env, "SLURM_NTASKS_PER_NODE", spec.tasks_per_node);
    set_if(env, "SLURM_NTASKS_PER_SOCKET", spec.tasks_per_socket);
    set_if(env, "SLURM_NTASKS_PER_CORE", spec.tasks_per_core);
    set_if(env, "SLURM_NTASKS_PER_GPU", spec.tasks_per_gpu);
    // A hint is handed on as such, and says it to every srun.
    if (!env.has("SLURM_HINT")) set_if(env, "SLURM_THREADS_PER_CORE", spec.threads_per_core);
    set_if(env, "SLURM_CPUS_PER_GPU", spec.cpus_per_gpu);
    set_if(env, "SLURM_GPUS", gpu_text(spec.gpus_per_job));
    set_if(env, "SLURM_GPUS_PER_SOCKET", gpu_text(spec.gpus_per_socket));
    set_if(env, "SLURM_GPUS_PER_TASK", gpu_text(spec.gpus_per_task));
    set_if(env, "SLURM_GPU_BIND", spec.gpu_bind);
    set_if(env, "SLURM_GPU_FREQ", spec.gpu_freq);
    set_if(env, "SLURM_DISTRIBUTION", model::to_string(spec.distribution));
    if (spec.distribution.plane_size > 0)
        env.set("SLURM_DIST_PLANESIZE", spec.distribution.plane_size);
    if (spec.overcommit) env.set("SLURM_OVERCOMMIT", "1");
}

void set_task_place(Environment& env, const Launch& launch, std::uint32_t local) {
    const std::vector<std::uint32_t>& tasks = launch.here().tasks;
    env.set("SLURM_NODEID", launch.node_index);
    env.set("SLURM_PROCID", local < tasks.size() ? tasks[local] : 0);
    env.set("SLURM_LOCALID", local);
    env.set("SLURM_GTIDS", tasks.empty() ? "0" : fmt::to_string(fmt::join(tasks, ",")));
}

// One srun in several components: tasks and nodes are counted through all of them.
void set_het_step(Environment& env, const Launch& launch) {
    const model::HetStep& het = *launch.het;
    const auto shift = [&](const char* name, std::uint32_t offset) {
        if (const auto number = parse_uint(env.get(name))) env.set(name, *number + offset);
    };
    shift("SLURM_PROCID", het.task_offset);
    shift("SLURM_NODEID", het.node_offset);
    for (const char* name : {"SLURM_NTASKS", "SLURM_NPROCS", "SLURM_STEP_NUM_TASKS"})
        env.set(name, het.tasks);
    for (const char* name : {"SLURM_NNODES", "SLURM_STEP_NUM_NODES"}) env.set(name, het.nodes);
    std::vector<std::uint32_t> ranks = launch.here().tasks;
    for (std::uint32_t& rank : ranks) rank += het.task_offset;
    env.set("SLURM_GTIDS", fmt::to_string(fmt::join(ranks, ",")));
}

// What is only in the environment of srun's tasks: the step, and where its srun is.
void set_step(Environment& env, const Launch& launch) {
    const std::vector<std::string> nodes = step_nodes(launch);
    const std::string per_node = step_tasks_per_node(launch);
    const std::uint32_t tasks = launch.layout.task_count();
    env.set("SLURM_STEP_ID", launch.key.step.value);
    env.set("SLURM_STEPID", launch.key.step.value);
    env.set("SLURM_STEP_NODELIST", node_list(nodes));
    env.set("SLURM_STEP_NUM_NODES", nodes.size());
    env.set("SLURM_STEP_NUM_TASKS", tasks);
    env.set("SLURM_STEP_TASKS_PER_NODE", per_node);
    env.set("SLURM_NNODES", nodes.size());
    env.set("SLURM_NTASKS", tasks);
    env.set("SLURM_NPROCS", tasks);
    env.set("SLURM_TASKS_PER_NODE", per_node);

    const SrunAddress& srun = launch.command.srun;
    if (launch.has_srun()) {
        const std::string address = srun.addresses.empty() ? "127.0.0.1" : srun.addresses.front();
        env.set("SLURM_LAUNCH_NODE_IPADDR", address);
        env.set("SLURM_SRUN_COMM_HOST", address);
        env.set("SLURM_SRUN_COMM_PORT", srun.port);
        env.set("SLURM_STEP_LAUNCHER_PORT", srun.port);
    }
    set_if(env, "SLURM_STEP_RESV_PORTS", launch.resv_ports);
    if (launch.command.pty) {
        env.set("SLURM_PTY_PORT", srun.port);
        env.set("SLURM_PTY_WIN_COL", launch.command.pty_cols);
        env.set("SLURM_PTY_WIN_ROW", launch.command.pty_rows);
    }
}

// "verbose,mask_cpu:3" in its parts: how it talks, what kind, and the list.
void set_bind(Environment& env, const std::string& name, const std::string& wish) {
    if (wish.empty()) return;
    const std::size_t manners = std::min(wish.find(','), wish.size());
    std::string kind = wish.substr(std::min(manners + 1, wish.size()));
    constexpr std::string_view kPrefer = "prefer,";
    if (kind.starts_with(kPrefer)) {
        env.set(name + "_PREFER", "prefer");
        kind.erase(0, kPrefer.size());
    }
    const std::size_t mark = kind.find(':');
    env.set(name, wish);
    env.set(name + "_VERBOSE", wish.substr(0, manners));
    env.set(name + "_TYPE", kind.substr(0, mark == std::string::npos ? mark : mark + 1));
    env.set(name + "_LIST", mark == std::string::npos ? "" : kind.substr(mark + 1));
}

void set_step_request(Environment& env, const Launch& launch) {
    const model::StepSpec& spec = launch.spec;
    set_if(env, "SLURM_CPUS_PER_TASK", spec.cpus_per_task);
    if (spec.cpus_per_task)
        env.set("SLURM_TRES_PER_TASK", fmt::format("cpu={}", *spec.cpus_per_task));
    set_if(env, "SLURM_NTASKS_PER_NODE", spec.tasks_per_node);
    const std::string& distribution = launch.command.distribution;
    set_if(env, "SLURM_DISTRIBUTION", distribution.substr(0, distribution.find('=')));
    if (spec.distribution.plane_size > 0)
        env.set("SLURM_DIST_PLANESIZE", spec.distribution.plane_size);
    set_bind(env, "SLURM_CPU_BIND", launch.command.cpu_bind);
    set_bind(env, "SLURM_MEM_BIND", launch.command.mem_bind);
}

}  // namespace

void Environment::set(std::string_view name, std::string_view value) {
    std::string entry = fmt::format("{}={}", name, value);
    const auto found =
        std::ranges::find_if(entries_, [name](const std::string& e) { return names(e, name); });
    if (found != entries_.end()) {
        *found = std::move(entry);
    } else {
        entries_.push_back(std::move(entry));
    }
}

void Environment::set(std::string_view name, std::uint64_t value) {
    set(name, fmt::to_string(value));
}

void Environment::unset(std::string_view name) {
    std::erase_if(entries_, [name](const std::string& e) { return names(e, name); });
}

bool Environment::has(std::string_view name) const {
    return std::ranges::any_of(entries_, [name](const std::string& e) { return names(e, name); });
}

std::string_view Environment::get(std::string_view name) const {
    for (const std::string& entry : entries_) {
        if (names(entry, name)) return std::string_view(entry).substr(name.size() + 1);
    }
    return {};
}

std::vector<std::string> batch_environment(const Launch& launch) {
    const model::JobSpec& spec = *launch.job.spec;
    Environment env(launch.payload.environment);
    env.unset("SLURM_UMASK");
    set_job(env, launch);
    env.set("SLURM_JOB_NAME", spec.name);
    set_launchers(env);
    set_times(env, launch);
    set_allocation(env, launch);
    set_array(env, launch);
    set_components(env, launch);
    set_request(env, spec);
    set_gres(env, launch, std::nullopt);
    set_task_place(env, launch, 0);
    if (spec.tasks || spec.tasks_per_node) {
        const model::Allocation* allocation = model::allocation_of(launch.job);
        const std::uint64_t nodes = allocation == nullptr ? 1 : allocation->nodes.size();
        const std::uint64_t tasks = spec.tasks ? *spec.tasks : *spec.tasks_per_node * nodes;
        env.set("SLURM_NTASKS", tasks);
        env.set("SLURM_NPROCS", tasks);
    }
    env.set("SLURM_CPUS_ON_NODE", launch.here().grant.cpus);
    env.set("SLURM_SUBMIT_DIR",
            env.has("SLURM_SUBMIT_DIR") ? std::string(env.get("SLURM_SUBMIT_DIR")) : spec.work_dir);
    env.set("SLURM_JOB_EXCLUSIVE", spec.exclusive == model::Exclusive::No     ? "NO"
                                   : spec.exclusive == model::Exclusive::User ? "USER"
                                   : spec.exclusive == model::Exclusive::Mcs  ? "MCS"
                                   : spec.exclusive == model::Exclusive::Topo ? "TOPO"
                                                                              : "NODE");
    env.set("SLURM_JOB_OVERSUBSCRIBE", spec.oversubscribe ? "YES" : "NO");
    // The batch step's number, as a signed one.
    env.set("SLURM_STEP_ID", "-5");
    env.set("SLURM_STEPID", "-5");
    env.set("ENVIRONMENT", "BATCH");
    env.set("HOSTNAME", launch.node);
    if (!env.has("TMPDIR")) env.set("TMPDIR", "/tmp");
    return env.take();
}

std::vector<std::string> task_environment(const Launch& launch, std::uint32_t local) {
    Environment env(launch.payload.environment);
    set_job(env, launch);
    set_times(env, launch);
    set_allocation(env, launch);
    set_array(env, launch);
    set_components(env, launch);
    set_step(env, launch);
    set_step_request(env, launch);
    set_gres(env, launch, local);
    set_task_place(env, launch, local);
    set_launchers(env);
    // srun says it where it has a name of its own.
    if (!env.has("SLURM_JOB_NAME")) env.set("SLURM_JOB_NAME", launch.job.spec->name);
    // As with Slurm, it is the first task of a node that is given one.
    if (local == 0 && !env.has("TMPDIR")) env.set("TMPDIR", "/tmp");
    env.set("SLURMD_DEBUG", "2");
    env.set("SLURM_JOB_GROUP", launch.job.spec->group);
    if (launch.het) set_het_step(env, launch);
    env.set("SLURM_CPUS_ON_NODE", launch.here().grant.cpus);
    env.set("SLURM_UMASK", fmt::format("{:04o}", launch.payload.umask));
    if (!env.has("SLURM_SUBMIT_DIR")) env.set("SLURM_SUBMIT_DIR", launch.job.spec->work_dir);
    return env.take();
}

}  // namespace switchyard::stepd
