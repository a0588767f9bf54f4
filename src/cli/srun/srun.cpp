// srun.cpp: runs a command as the tasks of a step: in the job around it, or in an allocation of its
// own.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/message.hpp"
#include "cli/output.hpp"
#include "cli/sbcast/broadcast.hpp"
#include "cli/session.hpp"
#include "cli/srun/launch.hpp"
#include "cli/srun/parts.hpp"
#include "cli/srun/run.hpp"
#include "cli/srun/step.hpp"
#include "cli/submission/allocation.hpp"
#include "cli/submission/messages.hpp"
#include "cli/submission/origin.hpp"
#include "cli/submission/questions.hpp"
#include "cli/submission/surroundings.hpp"
#include "cli/submission/test_only.hpp"
#include "cli/submission/user_command.hpp"
#include "options/parse.hpp"
#include "os/spawn.hpp"
#include "wire/codec.hpp"

namespace switchyard::cli {
namespace {

using options::Command;
using options::JobRequest;

// --prolog and --epilog: programs of srun's own host, around the step.
void run_beside(const std::string& program, const std::vector<std::string>& operands,
                const options::Surroundings& surroundings, const MadeStep& made) {
    if (program.empty() || equals_ignoring_case(program, "none")) return;
    os::SpawnRequest spawn;
    spawn.path = find_program(program, surroundings.environment);
    spawn.argv = {program};
    spawn.argv.insert(spawn.argv.end(), operands.begin(), operands.end());
    spawn.environment = surroundings.environment;
    options::set_variable(spawn.environment, "SLURM_JOB_ID", fmt::to_string(made.job.id.value));
    options::set_variable(spawn.environment, "SLURM_STEP_ID",
                          fmt::to_string(made.step.key.step.value));
    options::set_variable(spawn.environment, "SLURM_JOB_NODELIST", node_list(made.job));
    spawn.new_session = false;
    const auto child = spawn.path.empty() ? Result<pid_t>(fail(Errc::NotFound)) : os::spawn(spawn);
    if (!child)
        return say_error("srun",
                         fmt::format("Unable to run {}: {}", program, child.error().message));
    int status = 0;
    while (::waitpid(*child, &status, 0) < 0 && errno == EINTR) {
    }
    if (status != 0) say_error("srun", fmt::format("{} ended with status {}", program, status));
}

void explain_step(const JobRequest& request, const MadeStep& made, bool alone) {
    if (request.ask.verbose == 0) return;
    const std::string nodes = node_list(made.job);
    if (alone) explain(request, fmt::format("Nodes {} are ready for job", nodes));
    if (const model::Allocation* allocation = allocation_of(made.job)) {
        const std::vector<std::uint32_t> cpus = cpus_per_node(*allocation);
        std::string counts = model::compress_counts(cpus);
        if (cpus.size() == 1) counts += "(x1)";
        explain(request, fmt::format("jobid {}: nodes({}):`{}', cpu counts: {}", made.job.id.value,
                                     allocation->nodes.size(), nodes, counts));
    }
    explain(request,
            fmt::format("CpuBindType={}",
                        request.launch.cpu_bind.empty() ? "(null type)" : request.launch.cpu_bind));
    for (const model::StepNode& node : made.step.layout.nodes) {
        model::IndexSet tasks;
        for (const std::uint32_t task : node.tasks) tasks.insert(task);
        explain(request, fmt::format("launching StepId={} on host {}, {} tasks: {}",
                                     model::to_string(made.step.key), node.grant.node,
                                     node.tasks.size(), model::to_string(tasks)));
    }
}

int tell_when(ControllerLink& link, const std::vector<Launchable>& parts) {
    std::vector<const JobRequest*> components;
    for (const Launchable& part : parts) components.push_back(&part.request);
    return tell_starts(Command::Srun, components,
                       {.call = [&](wire::Request& request) { return link.call(request); },
                        .notes = [&] { return link.last_notes(); }});
}

// Asks for the allocation of an srun that runs alone; the jobs of its components, in order.
std::variant<std::vector<JobId>, NoAllocation> obtain_jobs(io::Loop& loop, ControllerLink& link,
                                                           const std::vector<Launchable>& parts) {
    std::vector<const JobRequest*> components;
    for (std::size_t i = 1; i < parts.size(); ++i) components.push_back(&parts[i].request);
    auto obtained = obtain_allocation(loop, link, parts.front().request, components);
    if (const auto* none = std::get_if<NoAllocation>(&obtained)) return *none;
    const Allocated& allocated = std::get<Allocated>(obtained);
    std::vector<JobId> jobs{allocated.job.id};
    for (const model::Job& each : allocated.more) jobs.push_back(each.id);
    return jobs;
}

// --bcast: the program goes to every node of the job, and the copy is what runs.
Status broadcast_program(Launchable& what, JobId job) {
    const options::LaunchSettings& launch = what.request.launch;
    if (!launch.bcast || what.argv.empty()) return {};
    Broadcast plan;
    plan.job = job.value;
    plan.source = find_program(what.argv.front(), what.world.environment);
    if (plan.source.empty())
        return fail(Errc::NotFound, fmt::format("Can't find `{}`", what.argv.front()));
    plan.target =
        launch.bcast->empty()
            ? fmt::format("{}/slurm_bcast_{}.{}", what.request.job.work_dir, job.value, ::getpid())
            : *launch.bcast;
    // Into a folder it goes under its own name.
    if (plan.target.ends_with('/')) plan.target += base_name(plan.source);
    if (!plan.target.starts_with('/')) plan.target = what.request.job.work_dir + "/" + plan.target;
    plan.force = true;
    plan.preserve = true;
    plan.send_libs = launch.send_libs.value_or(false);
    if (launch.bcast_exclude) plan.exclude = *launch.bcast_exclude;
    SY_CHECK(broadcast(plan));
    what.argv.front() = plan.target;
    if (plan.send_libs) {
        std::string path = libraries_folder(plan.target);
        if (const auto before = what.world.variable("LD_LIBRARY_PATH"); before && !before->empty())
            path += ":" + *before;
        options::set_variable(what.world.environment, "LD_LIBRARY_PATH", path);
    }
    return {};
}

// What the nodes are told of each part; with a server they come to it.
StepRequest describe_step(const ControllerLink& link, const std::vector<Launchable>& parts,
                          const std::vector<JobId>& jobs, StepServer* server,
                          wire::StepLaunch& launch) {
    const JobRequest& request = parts.front().request;
    describe_launch(parts.front(), link.config(), launch);
    if (server != nullptr) server->describe(launch);
    StepRequest ask{
        .request = request, .job = jobs.front(), .alone = !request.ask.job_id, .launch = launch};
    for (std::size_t i = 1; i < parts.size() && i < jobs.size(); ++i) {
        auto more = std::make_shared<wire::StepLaunch>();
        describe_launch(parts[i], link.config(), *more);
        if (server != nullptr) server->describe(*more);
        more->set_pty(false);  // There is but one terminal.
        ask.more.push_back({parts[i].request, jobs[i], std::move(more)});
    }
    return ask;
}

// --async: the step is the controller's from here on, whether there is room for it or not.
int leave_step(io::Loop& loop, ControllerLink& link, const std::vector<Launchable>& parts,
               const std::vector<JobId>& jobs) {
    const JobRequest& request = parts.front().request;
    if (const Status served = check_async_mpi(request, link.config()); !served) {
        say_error("srun", served.error().message);
        return error_exit_code();
    }
    wire::StepLaunch launch;
    auto step = make_step(loop, link, describe_step(link, parts, jobs, nullptr, launch));
    if (const auto* none = std::get_if<NoStep>(&step)) return none->exit_code;
    const MadeStep& made = std::get<MadeStep>(step);
    explain_step(request, made, false);
    const std::string id = model::to_string(made.step.key);
    if (request.ask.quiet > 0) return 0;
    print(request.ask.parsable ? id + "\n" : fmt::format("Submitted step {}\n", id));
    return 0;
}

int run_step(io::Loop& loop, ControllerLink& link, const std::vector<Launchable>& parts,
             const std::vector<JobId>& jobs) {
    const Launchable& what = parts.front();
    const JobRequest& request = what.request;
    const bool alone = !request.ask.job_id;
    auto server = StepServer::open(loop);
    if (!server) {
        say_error("srun", server.error().message);
        return error_exit_code();
    }
    wire::StepLaunch launch;
    auto step = make_step(loop, link, describe_step(link, parts, jobs, server->get(), launch));
    if (const auto* none = std::get_if<NoStep>(&step)) return none->exit_code;
    const MadeStep& made = std::get<MadeStep>(step);
    explain_step(request, made, alone);
    run_beside(request.launch.prolog, what.argv, what.world, made);
    StepRun running({.loop = loop,
                     .link = link,
                     .server = **server,
                     .request = request,
                     .made = made,
                     .alone = alone});
    const auto code = running.run();
    if (!code) say_error("srun", code.error().message);
    run_beside(request.launch.epilog, what.argv, what.world, made);
    return code ? *code : error_exit_code();
}

// The whole of it, with what the user said understood.
int run(ControllerLink& link, io::Loop& loop, std::vector<Launchable>& parts) {
    const JobRequest& request = parts.front().request;
    const bool alone = !request.ask.job_id;
    if (request.ask.test_only) return tell_when(link, parts);
    std::vector<JobId> jobs;
    for (const Launchable& part : parts) jobs.push_back(part.request.ask.job_id.value_or(JobId{}));
    if (alone) {
        auto obtained = obtain_jobs(loop, link, parts);
        if (const auto* none = std::get_if<NoAllocation>(&obtained)) return none->exit_code;
        jobs = std::get<std::vector<JobId>>(std::move(obtained));
        explain(request, fmt::format("JobId={} returned by the controller", jobs.front().value));
    }
    for (std::size_t i = 0; i < parts.size() && i < jobs.size(); ++i) {
        if (const Status sent = broadcast_program(parts[i], jobs[i]); !sent) {
            if (!sent.error().message.empty()) say_error("srun", sent.error().message);
            return error_exit_code();
        }
    }
    if (request.launch.async) {
        for (Launchable& part : parts) part.request.launch.async = true;  // It leaves all of it.
        return leave_step(loop, link, parts, jobs);
    }
    return run_step(loop, link, parts, jobs);
}

int srun(int argc, char** argv) {
    open_standard_streams();
    const options::Surroundings surroundings = look_around();
    const std::vector<std::string> words = words_of(argc, argv, Command::Srun);
    std::vector<Launchable> parts;
    if (const auto fault = understand_parts(words, surroundings, parts))
        return complain(Command::Srun, *fault);
    const JobRequest& request = parts.front().request;
    if (const auto code = answered_help(request)) return *code;
    if (answered_list(request)) return 0;
    const auto lacks_command = [](const Launchable& part) { return part.argv.empty(); };
    if (!request.ask.test_only && std::ranges::any_of(parts, lacks_command))
        return complain(Command::Srun, {.kind = options::Fault::Kind::Fatal,
                                        .text = "fatal: No command given to execute."});
    Status ready = take_identity(request);
    for (Launchable& part : parts) {
        if (request.ask.test_only) {
            fill_origin(part.request.job, words);
        } else if (ready) {
            ready = prepare(part, words);
        }
    }
    if (!ready) {
        say_error("srun", ready.error().message);
        return error_exit_code();
    }
    for (const Launchable& part : parts) say_what_was_understood(part.request);

    auto session = open_session("srun");
    if (!session) return submission_failed(Command::Srun, session.error(), {});
    if (request.ask.clusters && !is_our_cluster("srun", *request.ask.clusters, session->config)) {
        return error_exit_code();
    }
    io::Loop loop;
    ControllerLink link(loop, *std::move(session), "srun");
    return run(link, loop, parts);
}

}  // namespace
}  // namespace switchyard::cli

int switchyard::cli::srun_main(int argc, char** argv) { return srun(argc, argv); }
