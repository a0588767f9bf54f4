#include "cli/submit/salloc_environment.hpp"

#include <fmt/format.h>

#include "cli/submit/allocation.hpp"
#include "cli/submit/common.hpp"
#include "model/resources.hpp"

namespace switchyard::cli::submit {
namespace {

using options::Environment;

class Writer {
  public:
    explicit Writer(Environment& environment, std::string tail = {})
        : environment_(environment), tail_(std::move(tail)) {}
    void set(std::string_view name, std::string_view value) {
        options::set_variable(environment_, std::string(name) + tail_, value);
    }
    void set_if(std::string_view name, const std::string& value) {
        if (!value.empty()) set(name, value);
    }
    void set_if(std::string_view name, const std::optional<std::uint32_t>& value) {
        if (value) set(name, fmt::to_string(*value));
    }

  private:
    Environment& environment_;
    std::string tail_;  // "_HET_GROUP_1" where components are described one by one.
};

void set_memory(Writer& out, const model::MemoryRequest& memory) {
    using Per = model::MemoryRequest::Per;
    const std::string amount = fmt::to_string(memory.amount.value);
    if (memory.per == Per::Node) out.set("SLURM_MEM_PER_NODE", amount);
    if (memory.per == Per::Cpu) out.set("SLURM_MEM_PER_CPU", amount);
    if (memory.per == Per::Gpu) out.set("SLURM_MEM_PER_GPU", amount);
}

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
void set_request(Writer& out, const options::JobRequest& request) {
    const model::JobSpec& job = request.job;
    out.set_if("SLURM_NTASKS", job.tasks);
    out.set_if("SLURM_NPROCS", job.tasks);
    out.set_if("SLURM_NTASKS_PER_NODE", job.tasks_per_node);
    out.set_if("SLURM_NTASKS_PER_SOCKET", job.tasks_per_socket);
    out.set_if("SLURM_NTASKS_PER_CORE", job.tasks_per_core);
    out.set_if("SLURM_NTASKS_PER_GPU", job.tasks_per_gpu);
    out.set_if("SLURM_CPUS_PER_TASK", job.cpus_per_task);
    out.set_if("SLURM_THREADS_PER_CORE", job.threads_per_core);
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
    set_memory(out, job.memory);
}

void describe(Writer& out, const options::JobRequest& request, const model::Job& job) {
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
}

}  // namespace

Environment salloc_environment(const options::JobRequest& request, const model::Job& job,
                               const options::Surroundings& surroundings,
                               const std::string& cluster, const std::string& config_path) {
    Environment environment = environment_for_a_new_job(surroundings);
    Writer out(environment);
    out.set("SLURM_CLUSTER_NAME", cluster);
    out.set("SLURM_CONF", config_path);
    out.set("SLURM_SUBMIT_DIR", surroundings.work_dir);
    out.set("SLURM_SUBMIT_HOST", short_host_name());
    describe(out, request, job);
    return environment;
}

void describe_components(const std::vector<options::JobRequest>& requests,
                         const Allocated& allocated, Environment& environment) {
    options::set_variable(environment, "SLURM_HET_SIZE", fmt::to_string(requests.size()));
    for (std::size_t i = 0; i < requests.size() && i <= allocated.more.size(); ++i) {
        Writer out(environment, fmt::format("_HET_GROUP_{}", i));
        describe(out, requests[i], i == 0 ? allocated.job : allocated.more[i - 1]);
    }
}

}  // namespace switchyard::cli::submit
