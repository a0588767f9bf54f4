// finish.cpp: what follows from several options together, and the step that srun asks for.
#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "base/errc.hpp"
#include "base/text.hpp"
#include "model/gres.hpp"
#include "options/bind_words.hpp"
#include "options/parse.hpp"
#include "options/setters.hpp"

namespace switchyard::options {
namespace {

// --gres and --gpus-per-node speak of the same thing; about GPUs the latter has the last word.
Outcome join_gres(JobRequest& request) {
    std::vector<model::GresRequest>& all = request.job.gres_per_node;
    all.clear();
    if (request.gres) {
        auto parsed = model::parse_gres(*request.gres);
        if (!parsed) return Fault{Fault::Kind::Fatal, std::string(errc_text(Errc::InvalidGres))};
        all = *std::move(parsed);
    }
    if (request.gpus_per_node) {
        std::erase_if(all, [](const model::GresRequest& gres) { return gres.name == "gpu"; });
        if (auto parsed = model::parse_gres(*request.gpus_per_node)) {
            all.insert(all.end(), parsed->begin(), parsed->end());
        }
    }
    return {};
}

std::uint64_t gpu_count(const std::vector<model::GresRequest>& gpus) {
    std::uint64_t sum = 0;
    for (const model::GresRequest& gpu : gpus) sum += gpu.count;
    return sum;
}

// Cards for the job and for each task, or tasks for each card, are a count of tasks, which the
// script finds in SLURM_NTASKS. What does not divide is the controller's to refuse.
void count_tasks_by_cards(JobRequest& request) {
    model::JobSpec& job = request.job;
    if (request.command == Command::Srun || job.tasks || job.tasks_per_node) return;
    const std::uint64_t cards = gpu_count(job.gpus_per_job);
    const std::uint64_t each = gpu_count(job.gpus_per_task);
    if (cards == 0) return;
    if (each > 0 && cards % each == 0) job.tasks = static_cast<std::uint32_t>(cards / each);
    if (job.tasks_per_gpu) job.tasks = static_cast<std::uint32_t>(cards * *job.tasks_per_gpu);
}

// More nodes than tasks: some would stand idle.
void fit_nodes_to_tasks(JobRequest& request) {
    model::JobSpec& job = request.job;
    if (!job.tasks || !job.nodes_min || *job.tasks >= *job.nodes_min) return;
    const std::string nodes = job.nodes_max && *job.nodes_max != *job.nodes_min
                                  ? fmt::format("{}-{}", *job.nodes_min, *job.nodes_max)
                                  : fmt::format("{}", *job.nodes_min);
    request.warnings.push_back(fmt::format(
        "can't run {} processes on {} nodes, setting nnodes to {}", *job.tasks, nodes, *job.tasks));
    job.nodes_min = *job.tasks;
    job.nodes_max = *job.tasks;
}

// Whether srun will make a step of a job that is there, and not a job.
bool is_step(const JobRequest& request) {
    return request.command == Command::Srun && request.ask.job_id;
}

// Cards for each task are a number of cards only if there is a number of tasks.
bool lacks_task_count(const JobRequest& request) {
    const model::JobSpec& job = request.job;
    const bool one_count = job.nodes_min && job.nodes_min == job.nodes_max;
    return gpu_count(job.gpus_per_task) > 0 && !job.tasks && job.gpus_per_job.empty() && !one_count;
}

// What no two options may say at once.
Outcome find_conflict(const JobRequest& request) {
    // What a stronger source says stands for itself.
    const auto both = [&](std::string_view a, std::string_view b) {
        const auto first = request.given.find(a), second = request.given.find(b);
        return first != request.given.end() && second != request.given.end() &&
               first->second == second->second;
    };
    if (both("gpus-per-task", "ntasks-per-gpu"))
        return Fault{Fault::Kind::Fatal,
                     "fatal: --gpus-per-task is mutually exclusive with --ntasks-per-gpu and "
                     "SLURM_NTASKS_PER_GPU"};
    if (both("cpus-per-task", "cpus-per-gpu"))
        return Fault{
            Fault::Kind::Fatal,
            "fatal: --cpus-per-task, --tres-per-task=cpu:#, and --cpus-per-gpu are mutually "
            "exclusive"};
    if (is_step(request)) return {};
    if (gpu_count(request.job.gpus_per_socket) > 0 && !request.job.sockets_per_node)
        return Fault{Fault::Kind::Fatal,
                     "--gpus-per-socket option requires --sockets-per-node specification\n" +
                         std::string(errc_text(Errc::InvalidGres))};
    if (lacks_task_count(request))
        return Fault{Fault::Kind::Fatal,
                     "Failed to validate job spec. --gpus-per-task or --tres-per-task used without "
                     "either --gpus or -n/--ntasks is not allowed.\n" +
                         std::string(errc_text(Errc::InvalidGres))};
    return {};
}

// --ntasks-per-node cannot hold when more tasks are asked for than it allows on the nodes. Of a
// job the controller says so.
void fit_tasks_per_node(JobRequest& request) {
    model::JobSpec& job = request.job;
    if (job.tasks_per_node == 0u) job.tasks_per_node.reset();
    if (!is_step(request)) return;
    if (!job.tasks || !job.tasks_per_node || !job.nodes_max) return;
    if (static_cast<std::uint64_t>(*job.nodes_max) * *job.tasks_per_node >= *job.tasks) return;
    // Inherited from the job around an srun that says how many tasks it wants: no reason for a
    // warning.
    if (request.given_on_command_line("ntasks-per-node")) {
        request.warnings.push_back(
            fmt::format("can't honor --ntasks-per-node set to {} which doesn't match the "
                        "requested tasks {} with the maximum number of requested nodes {}. "
                        "Ignoring --ntasks-per-node.",
                        *job.tasks_per_node, *job.tasks, *job.nodes_max));
    }
    job.tasks_per_node.reset();
}

// A list for --distribution=arbitrary names a node for each task, some of them more than once;
// SLURM_HOSTFILE is the list where there is none. The job needs each node once.
Outcome name_nodes_once(JobRequest& request, const Surroundings& surroundings) {
    std::vector<std::string>& names = request.job.required_nodes;
    if (request.job.distribution.nodes == model::Distribution::Nodes::Arbitrary) {
        const auto file = surroundings.variable("SLURM_HOSTFILE");
        if (names.empty() && file && !file->empty()) {
            auto read = nodes_in_file(*file);
            if (!read)
                return Fault{Fault::Kind::Fatal, fmt::format("Unable to open file {}", *file)};
            names = *std::move(read);
        }
        if (names.empty() && request.command == Command::Srun)
            return Fault{Fault::Kind::Fatal,
                         "--distribution=arbitrary needs a list of nodes (-w or SLURM_HOSTFILE)"};
        request.task_nodes = names;
        const auto tasks = static_cast<std::uint32_t>(names.size());
        if (tasks > 0 && (!request.job.tasks || *request.job.tasks > tasks))
            request.job.tasks = tasks;
        if (request.job.tasks) request.task_nodes.resize(*request.job.tasks);
    }
    std::set<std::string> seen;
    std::erase_if(names, [&](const std::string& name) { return !seen.insert(name).second; });
    return {};
}

bool names_what_it_excludes(const model::JobSpec& job) {
    const std::set<std::string_view> excluded(job.excluded_nodes.begin(), job.excluded_nodes.end());
    return std::ranges::any_of(job.required_nodes,
                               [&](const std::string& name) { return excluded.contains(name); });
}

// Nodes named with -w for which no count was given are the count.
void count_named_nodes(JobRequest& request) {
    model::JobSpec& job = request.job;
    const auto named = static_cast<std::uint32_t>(job.required_nodes.size());
    if (named == 0) return;
    if (request.command == Command::Srun && !request.given_on_command_line("nodes") &&
        request.was_given("nodes") && request.given_on_command_line("nodelist")) {
        job.nodes_min = job.nodes_max =
            named;  // The node count of the job around it says nothing about the step.
    }
    if (!job.nodes_min) job.nodes_min = named;
    if (*job.nodes_min < named) job.nodes_min = named;
    if (job.nodes_max && *job.nodes_max < named) job.nodes_max = named;
}

// Tasks counted by cores or sockets are bound to them.
void settle_binding(JobRequest& request) {
    LaunchSettings& launch = request.launch;
    std::string level = launch.level_bind;
    if (level.empty() && request.job.tasks_per_core) level = "cores";
    if (level.empty() && request.job.tasks_per_socket) level = "sockets";
    if (request.command == Command::Srun && launch.cpu_bind != "help")
        launch.cpu_bind = canonical_bind(launch.cpu_bind, level);
    if (launch.mem_bind != "help") launch.mem_bind = canonical_bind(launch.mem_bind, {});
}

// More processors to a task than the job was asked for: perhaps it has them, perhaps not.
void note_wide_tasks(JobRequest& request, const Surroundings& surroundings) {
    const auto around = surroundings.variable("SLURM_CPUS_PER_TASK");
    const auto job_has = around ? parse_uint(*around) : std::nullopt;
    if (!request.given_on_command_line("cpus-per-task") || !job_has) return;
    if (!request.ask.job_id || *request.job.cpus_per_task <= *job_has) return;
    request.notes.push_back(fmt::format(
        "Job step's --cpus-per-task value exceeds that of job ({} > {}). Job step may never run.",
        *request.job.cpus_per_task, *job_has));
}

// What cards a step of a job asks for, and which of them each task sees. What was asked for the
// job's sake is not asked again: a step has all that its job has on its nodes, if it says nothing.
void set_step_gpus(const JobRequest& request, model::StepSpec& step) {
    const model::JobSpec& job = request.job;
    step.gres_per_node = job.gres_per_node;
    step.gres_none = request.gres && equals_ignoring_case(*request.gres, "none");
    if (request.given_on_command_line("gpus-per-socket")) {
        for (model::GresRequest gpus : job.gpus_per_socket) {
            gpus.count *= job.sockets_per_node.value_or(1);
            step.gres_per_node.push_back(std::move(gpus));
        }
    }
    if (!step.gres_per_node.empty() || step.gres_none) return;
    if (job.tasks || !request.given_on_command_line("gpus")) step.gpus_per_task = job.gpus_per_task;
    if (request.given_on_command_line("gpus")) step.gpus_per_step = job.gpus_per_job;
    step.tasks_per_gpu = job.tasks_per_gpu;
    if (job.tasks_per_gpu && job.tasks && step.gpus_per_task.empty() && step.gpus_per_step.empty())
        step.gpus_per_step = {
            {"gpu", "", (*job.tasks + *job.tasks_per_gpu - 1) / *job.tasks_per_gpu}};
}

// --gpus-per-task and --ntasks-per-gpu bind by themselves.
std::string gpu_bind_of(const model::JobSpec& job) {
    const std::string_view verbose = "verbose";
    if (!job.gpu_bind.empty() && job.gpu_bind != verbose) return job.gpu_bind;
    const std::string prefix = job.gpu_bind.empty() ? "" : "verbose,";
    if (!job.gpus_per_task.empty())
        return fmt::format("{}per_task:{}", prefix, gpu_count(job.gpus_per_task));
    if (job.tasks_per_gpu) return fmt::format("{}single:{}", prefix, *job.tasks_per_gpu);
    return job.gpu_bind;
}

}  // namespace

Outcome finish(JobRequest& request, const Surroundings& surroundings) {
    if (Outcome fault = join_gres(request)) return fault;
    if (Outcome fault = find_conflict(request)) return fault;
    if (Outcome fault = name_nodes_once(request, surroundings)) return fault;
    if (names_what_it_excludes(request.job)) {
        return Fault{Fault::Kind::Refused, std::string(errc_text(Errc::InvalidNodeName))};
    }
    count_named_nodes(request);
    count_tasks_by_cards(request);
    // --ntasks on srun's own line outweighs the node count and the tasks per node of the job around
    // it.
    fit_nodes_to_tasks(request);
    fit_tasks_per_node(request);
    settle_binding(request);
    if (request.command == Command::Srun) note_wide_tasks(request, surroundings);
    request.job.kind =
        request.command == Command::Sbatch ? model::JobKind::Batch : model::JobKind::Allocation;
    request.job.work_dir = request.chdir.value_or(surroundings.work_dir);
    if (request.job.time_limit && request.job.time_min &&
        *request.job.time_limit < *request.job.time_min) {
        return Fault{Fault::Kind::Refused,
                     "Invalid time-min specification (exceeds job's time or other limits)"};
    }
    return {};
}

model::StepSpec step_spec(const JobRequest& request, bool alone) {
    const model::JobSpec& job = request.job;
    const LaunchSettings& launch = request.launch;
    model::StepSpec step;
    step.name = job.name;
    step.tasks = job.tasks;
    step.cpus_per_task = job.cpus_per_task;
    step.tasks_per_node = job.tasks_per_node;
    step.distribution = job.distribution;
    step.overcommit = job.overcommit;
    step.overlap = launch.overlap;
    step.resv_ports = launch.resv_ports;
    step.interactive = launch.interactive;
    step.detached = launch.async;
    step.gpu_bind = gpu_bind_of(job);
    if (alone) {
        step.required_nodes = request.task_nodes;
        // The allocation was made for this step: it takes all of it.
        step.whole = launch.external_launcher;
        step.exact = launch.exact || request.exclusive;
        return step;
    }
    step.nodes_min = job.nodes_min;
    step.nodes_max = job.nodes_max;
    step.memory = job.memory;
    step.required_nodes = request.task_nodes.empty() ? job.required_nodes : request.task_nodes;
    step.excluded_nodes = job.excluded_nodes;
    step.relative = launch.relative;
    set_step_gpus(request, step);
    // Inside a job, --exclusive and -c mean: these processors and no others. A -c of the job around
    // it, which the environment tells, counts as one of its own.
    step.exact = launch.exact || request.exclusive || job.cpus_per_task.has_value();
    step.whole = launch.external_launcher;
    if (request.given_on_command_line("time")) step.time_limit = job.time_limit;
    return step;
}

}  // namespace switchyard::options
