#include "cli/salloc/salloc_environment.hpp"

#include <fmt/format.h>

#include "cli/submission/allocation.hpp"
#include "cli/submission/surroundings.hpp"
#include "cli/submission/variables.hpp"
#include "model/launcher_environment.hpp"
#include "model/resources.hpp"

namespace switchyard::cli {
namespace {

using options::Environment;

// "2" or "a100:2": as --gpus takes it.
std::string gpu_text(const std::vector<model::GresRequest>& gpus) {
    std::string text;
    for (const model::GresRequest& gpu : gpus) {
        if (!text.empty()) text += ',';
        text += gpu.type.empty() ? fmt::to_string(gpu.count)
                                 : fmt::format("{}:{}", gpu.type, gpu.count);
    }
    return text;
}

// What was asked for: srun inside reads it.
void set_request(Variables& out, const options::JobRequest& request) {
    const model::JobSpec& job = request.job;
    out.set_if("SLURM_NTASKS_PER_NODE", job.tasks_per_node);
    out.set_if("SLURM_NTASKS_PER_SOCKET", job.tasks_per_socket);
    out.set_if("SLURM_NTASKS_PER_CORE", job.tasks_per_core);
    out.set_if("SLURM_NTASKS_PER_GPU", job.tasks_per_gpu);
    out.set_if("SLURM_CPUS_PER_TASK", job.cpus_per_task);
    if (job.cpus_per_task)
        out.set("SLURM_TRES_PER_TASK", fmt::format("cpu={}", *job.cpus_per_task));
    // A hint is handed on as such, and says it to every srun.
    if (const auto hint = request.shown.find("hint"); hint != request.shown.end()) {
        out.set("SLURM_HINT", hint->second);
    } else {
        out.set_if("SLURM_THREADS_PER_CORE", job.threads_per_core);
    }
    out.set_if("SLURM_CPUS_PER_GPU", job.cpus_per_gpu);
    out.set_if("SLURM_GPUS", gpu_text(job.gpus_per_job));
    out.set_if("SLURM_GPUS_PER_TASK", gpu_text(job.gpus_per_task));
    out.set_if("SLURM_GPUS_PER_SOCKET", gpu_text(job.gpus_per_socket));
    if (const auto given = request.shown.find("gpus-per-node"); given != request.shown.end()) {
        out.set("SLURM_GPUS_PER_NODE", given->second);
    }
    out.set_if("SLURM_GPU_BIND", job.gpu_bind);
    out.set_if("SLURM_MEM_BIND", request.launch.mem_bind);
    out.set_if("SLURM_DISTRIBUTION", model::to_string(job.distribution));
    if (job.distribution.plane_size > 0)
        out.set("SLURM_DIST_PLANESIZE", fmt::to_string(job.distribution.plane_size));
    if (job.overcommit) out.set("SLURM_OVERCOMMIT", "1");
    set_frequency(out, request);
    set_memory(out, job.memory);
}

// How many tasks were asked for, as far as that is said.
std::optional<std::uint32_t> tasks_asked(const model::JobSpec& asked, const model::Job& job) {
    const model::Allocation* allocation = allocation_of(job);
    if (asked.tasks || !asked.tasks_per_node || allocation == nullptr) return asked.tasks;
    return *asked.tasks_per_node * static_cast<std::uint32_t>(allocation->nodes.size());
}

void set_tasks(Variables& out, const std::optional<std::uint32_t>& tasks) {
    out.set_if("SLURM_NTASKS", tasks);
    out.set_if("SLURM_NPROCS", tasks);
}

void describe(Variables& out, const options::JobRequest& request, const model::Job& job) {
    const std::string id = fmt::to_string(job.id.value);
    out.set("SLURM_JOB_ID", id);
    out.set("SLURM_JOBID", id);
    out.set("SLURM_JOB_NAME", job.spec->name);
    out.set("SLURM_JOB_PARTITION", job.partition);
    out.set_if("SLURM_JOB_ACCOUNT", job.spec->account);
    out.set_if("SLURM_JOB_QOS", job.spec->qos);
    if (const model::Running* run = model::run_of(job)) {
        out.set_if("SLURM_JOB_RESERVATION", run->reservation);
        out.set_if("SLURM_JOB_LICENSES", run->licenses);
    }
    if (const model::Allocation* allocation = allocation_of(job)) {
        const std::string nodes = node_list(job), count = fmt::to_string(allocation->nodes.size());
        out.set("SLURM_JOB_NODELIST", nodes);
        out.set("SLURM_NODELIST", nodes);
        out.set("SLURM_JOB_NUM_NODES", count);
        out.set("SLURM_NNODES", count);
        out.set("SLURM_JOB_CPUS_PER_NODE", model::compress_counts(cpus_per_node(*allocation)));
        out.set("SLURM_TASKS_PER_NODE", model::compress_counts(tasks_per_node(*allocation)));
    }
    set_request(out, request);
    set_tasks(out, tasks_asked(request.job, job));
}

}  // namespace

Environment salloc_environment(const std::vector<options::JobRequest>& requests,
                               const Allocated& allocated,
                               const options::Surroundings& surroundings,
                               const std::string& cluster, const std::string& config_path) {
    Environment environment = environment_for_a_new_job(surroundings.environment);
    Variables out(environment);
    out.set("SLURM_CLUSTER_NAME", cluster);
    out.set("SLURM_CONF", config_path);
    out.set("SLURM_SUBMIT_DIR", surroundings.work_dir);
    out.set("SLURM_SUBMIT_HOST", short_host_name());
    for (const auto& [name, value] :
         model::launcher_variables([&](std::string_view name) { return out.has(name); }))
        out.set(name, value);
    if (allocated.more.empty()) {
        describe(out, requests.front(), allocated.job);
        return environment;
    }
    // Of several components each is described by itself.
    std::uint32_t tasks = 0;
    for (std::size_t i = 0; i < requests.size() && i <= allocated.more.size(); ++i) {
        const model::Job& job = i == 0 ? allocated.job : allocated.more[i - 1];
        for (const char* tail : {"_HET_GROUP_", "_PACK_GROUP_"}) {
            Variables group(environment, fmt::format("{}{}", tail, i));
            describe(group, requests[i], job);
        }
        tasks += tasks_asked(requests[i].job, job).value_or(1);
    }
    set_tasks(out, tasks);
    out.set("SLURM_JOB_ID", fmt::to_string(allocated.job.id.value));
    for (const char* name : {"SLURM_HET_SIZE", "SLURM_PACK_SIZE"})
        out.set(name, fmt::to_string(requests.size()));
    return environment;
}

}  // namespace switchyard::cli
