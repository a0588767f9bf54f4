// srun.cpp: runs a command as the tasks of a step: in the job around it, or in an allocation of its
// own.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/message.hpp"
#include "cli/session.hpp"
#include "cli/submit/allocation.hpp"
#include "cli/submit/common.hpp"
#include "cli/submit/srun_launch.hpp"
#include "cli/submit/srun_run.hpp"
#include "cli/submit/srun_step.hpp"
#include "cli/submit/user_command.hpp"
#include "model/hostlist.hpp"
#include "options/parse.hpp"
#include "os/spawn.hpp"
#include "wire/codec.hpp"

namespace switchyard::cli::submit {
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

int tell_start(ControllerLink& link, const JobRequest& request) {
    wire::Request message;
    wire::encode(request.job, message.mutable_submit()->mutable_spec());
    message.mutable_submit()->set_test_only(true);
    const auto reply = link.call(message);
    if (!reply || !reply->has_would_start()) {
        return submission_failed(Command::Srun,
                                 reply ? Error{Errc::Internal, "unexpected answer"} : reply.error(),
                                 link.last_notes());
    }
    const wire::WouldStartReply& answer = reply->would_start();
    say("srun",
        fmt::format("Job {} to start at {} a using {} processors on nodes {} in partition {}",
                    answer.job(), model::format_instant(Instant{Millis{answer.start()}}),
                    answer.cpus(),
                    model::compress_hostlist({answer.nodes().begin(), answer.nodes().end()}),
                    answer.partition()));
    return 0;
}

// The whole of it, with what the user said understood.
int run(ControllerLink& link, io::Loop& loop, const Launchable& what,
        const options::Surroundings& surroundings) {
    const JobRequest& request = what.request;
    const bool alone = !request.ask.job_id;
    if (request.ask.test_only) return tell_start(link, request);
    JobId job = request.ask.job_id.value_or(JobId{});
    if (alone) {
        auto obtained = obtain_allocation(loop, link, request);
        if (const auto* none = std::get_if<NoAllocation>(&obtained)) return none->exit_code;
        job = std::get<model::Job>(obtained).id;
        explain(request, fmt::format("JobId={} returned by the controller", job.value));
    }
    auto server = StepServer::open(loop);
    if (!server) {
        say_error("srun", server.error().message);
        return error_exit_code();
    }
    wire::StepLaunch launch;
    describe_launch(what, surroundings, link.config(), launch);
    (*server)->describe(launch);
    auto step =
        make_step(loop, link, {.request = request, .job = job, .alone = alone, .launch = launch});
    if (const auto* none = std::get_if<NoStep>(&step)) return none->exit_code;
    const MadeStep& made = std::get<MadeStep>(step);
    explain_step(request, made, alone);
    run_beside(request.launch.prolog, what.argv, surroundings, made);
    StepRun running({.loop = loop,
                     .link = link,
                     .server = **server,
                     .request = request,
                     .made = made,
                     .alone = alone});
    const auto code = running.run();
    if (!code) say_error("srun", code.error().message);
    run_beside(request.launch.epilog, what.argv, surroundings, made);
    return code ? *code : error_exit_code();
}

int srun(int argc, char** argv) {
    open_standard_streams();
    const options::Surroundings surroundings = look_around();
    const std::vector<std::string> words = words_of(argc, argv, Command::Srun);
    Launchable what;
    JobRequest& request = what.request;
    request.command = Command::Srun;
    std::size_t operands_at = words.size();
    auto fault = apply_environment(request, surroundings);
    if (!fault)
        fault =
            apply_words(request, words, options::Source::CommandLine, surroundings, &operands_at);
    if (!fault && (answered_help(request) || answered_list(request))) return 0;
    if (!fault) fault = finish(request, surroundings);
    if (fault) return complain(Command::Srun, *fault);
    what.argv.assign(words.begin() + static_cast<std::ptrdiff_t>(operands_at), words.end());
    if (const Status ready = prepare(what, words); !ready) {
        say_error("srun", ready.error().message);
        return error_exit_code();
    }
    say_what_was_understood(request);

    auto session = open_session("srun");
    if (!session) return submission_failed(Command::Srun, session.error(), {});
    if (request.ask.clusters && !is_our_cluster("srun", *request.ask.clusters, session->config)) {
        return error_exit_code();
    }
    io::Loop loop;
    ControllerLink link(loop, *std::move(session), "srun");
    return run(link, loop, what, surroundings);
}

}  // namespace
}  // namespace switchyard::cli::submit

int switchyard::cli::srun_main(int argc, char** argv) { return submit::srun(argc, argv); }
