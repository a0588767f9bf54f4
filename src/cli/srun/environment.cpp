#include "cli/srun/environment.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include "cli/submission/surroundings.hpp"
#include "cli/submission/variables.hpp"

namespace switchyard::cli {
namespace {

// What SRUN_DEBUG counts from: messages that are neither wanted nor unwanted.
constexpr std::uint32_t kPlainLevel = 3;

}  // namespace

options::Environment task_environment(const options::JobRequest& request,
                                      const options::Surroundings& surroundings) {
    options::Environment environment =
        options::exported(surroundings.environment, request.ask.export_list.value_or("ALL"));
    const model::JobSpec& job = request.job;
    Variables out(environment);
    if (!request.ask.job_id) {
        out.set("SLURM_SUBMIT_DIR", surroundings.work_dir);
        out.set("SLURM_SUBMIT_HOST", short_host_name());
        // A step's own memory is nothing that its tasks are told.
        set_memory(out, job.memory);
    }
    if (request.given_on_command_line("job-name")) out.set("SLURM_JOB_NAME", job.name);
    if (options::get_variable(environment, "SRUN_DEBUG").empty()) {
        const std::uint32_t level = kPlainLevel + request.ask.verbose;
        out.set("SRUN_DEBUG", fmt::to_string(level - std::min(level, request.ask.quiet)));
    }
    out.set("SLURM_PRIO_PROCESS", fmt::to_string(::getpriority(PRIO_PROCESS, 0)));
    if (request.launch.label) out.set("SLURM_LABELIO", "1");
    if (job.overcommit) out.set("SLURM_OVERCOMMIT", "1");
    out.set_if("SLURM_NTASKS_PER_CORE", job.tasks_per_core);
    out.set_if("SLURM_NTASKS_PER_SOCKET", job.tasks_per_socket);
    out.set_if("SLURM_THREADS_PER_CORE", job.threads_per_core);
    set_frequency(out, request);
    return environment;
}

}  // namespace switchyard::cli
