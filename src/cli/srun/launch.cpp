#include "cli/srun/launch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/limits.hpp"
#include "base/text.hpp"
#include "cli/srun/environment.hpp"
#include "cli/srun/streams.hpp"
#include "cli/step_io/raw_terminal.hpp"
#include "cli/submission/origin.hpp"
#include "cli/submission/surroundings.hpp"
#include "io/fd.hpp"
#include "model/multi_prog.hpp"
#include "os/child.hpp"
#include "pmi/server.hpp"
#include "wire/proto/request.pb.h"

namespace switchyard::cli {
namespace {

using options::JobRequest;

Result<std::string> read_file(const std::string& path) {
    const io::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file)
        return fail(Errc::NotFound, fmt::format("Could not open multi_prog config file {}", path));
    std::string text(limits::kScriptBytesMax, '\0');
    std::size_t size = 0;
    for (ssize_t got = 0; (got = ::read(file.get(), text.data() + size, text.size() - size)) > 0;) {
        size += static_cast<std::size_t>(got);
    }
    text.resize(size);
    return text;
}

// How many tasks there will be, as far as it follows from what was asked.
std::uint32_t likely_tasks(const model::JobSpec& job) {
    if (job.tasks) return *job.tasks;
    return job.nodes_min.value_or(1) * job.tasks_per_node.value_or(1);
}

Status prepare_multi_prog(Launchable& what) {
    if (what.argv.size() != 1) {
        return fail(Errc::InvalidArgument,
                    "--multi-prog takes the name of a configuration file and nothing else");
    }
    SY_TRY(const std::string text, read_file(what.argv.front()));
    what.multi_prog = model::multi_prog_lines(text);
    return model::check_multi_prog(what.multi_prog, likely_tasks(what.request.job),
                                   what.argv.front());
}

// What SLURM_DISTRIBUTION tells tasks of a step inside a job, or with memory of its own, where
// nothing was asked for.
std::string distribution_text(const JobRequest& request) {
    std::string given = model::to_string(request.job.distribution);
    const bool told =
        request.ask.job_id || request.job.memory.per != model::MemoryRequest::Per::Unset;
    if (!given.empty() || !told) return given;
    return likely_tasks(request.job) <= request.job.nodes_min.value_or(1) ? "cyclic" : "block";
}

// What was asked for, else MpiDefault.
std::string mpi_kind(const JobRequest& request, const config::Config& config) {
    const std::string& wish = request.launch.mpi.empty() ? config.mpi_default : request.launch.mpi;
    return pmi::is_none(wish) ? "none" : wish;
}

// A program named by a path means this folder here, wherever the tasks run.
std::string absolute(const std::string& program, const options::Surroundings& surroundings) {
    if (program.empty() || program.starts_with('/') || !program.contains('/')) return program;
    return surroundings.work_dir + "/" + program;
}

// SLURM_TEST_EXEC: the command must be one that could be run here.
Status check_command(const Launchable& what) {
    const options::Surroundings& surroundings = what.world;
    const auto wish = surroundings.variable("SLURM_TEST_EXEC");
    if (!wish || what.request.launch.multi_prog) return {};
    for (const std::string& path : os::program_candidates(
             what.argv.front(), surroundings.environment, surroundings.work_dir)) {
        if (::access(path.c_str(), X_OK) == 0) return {};
    }
    return fail(Errc::NotFound, fmt::format("Unable to find command \"{}\"", what.argv.front()));
}

// What needs an srun that stays cannot be had from one that leaves.
Status check_async(const JobRequest& request) {
    const options::LaunchSettings& launch = request.launch;
    if (request.ask.parsable && !launch.async)
        return fail(Errc::InvalidArgument, "--parsable requires --async");
    if (!launch.async) return {};
    const auto not_with = [](std::string_view what) {
        return fail(Errc::InvalidArgument,
                    fmt::format("--async cannot be combined with {}: srun does not stay", what));
    };
    if (!request.ask.job_id)
        return fail(Errc::InvalidArgument, "--async is for steps inside an allocation");
    if (launch.pty) return fail(Errc::InvalidArgument, "--async and --pty are mutually exclusive.");
    if (request.ask.immediate_seconds)
        return fail(Errc::InvalidArgument, "--immediate and --async are mutually exclusive.");
    if (launch.kill_on_bad_exit.value_or(false)) return not_with("--kill-on-bad-exit");
    if (launch.wait_seconds) return not_with("--wait");
    if (!launch.prolog.empty()) return not_with("--prolog");
    if (!launch.epilog.empty()) return not_with("--epilog");
    const Streams streams = plan_streams(launch);
    for (const Stream* stream : {&streams.in, &streams.out, &streams.err}) {
        if (stream->kind == Stream::Kind::OneTask) return not_with("the stream of one task");
    }
    return {};
}

void describe_streams(const JobRequest& request, wire::StepLaunch& launch) {
    const Streams streams = plan_streams(request.launch);
    const bool stays = !request.launch.async;
    launch.set_std_in(pattern_for_nodes(streams.in, stays));
    launch.set_std_out(pattern_for_nodes(streams.out, stays));
    launch.set_std_err(pattern_for_nodes(streams.err, stays));
    const bool one = streams.in.kind == Stream::Kind::OneTask;
    launch.set_stdin_to_all(!one);
    if (one) launch.set_stdin_task(streams.in.task);
    launch.set_open_mode(static_cast<std::uint32_t>(request.job.open_mode));
    launch.set_label(request.launch.label);
    launch.set_unbuffered(request.launch.unbuffered || request.launch.pty);
    if (!request.launch.pty) return;
    const TerminalSize size = terminal_size();
    launch.set_pty(true);
    launch.set_pty_rows(size.rows);
    launch.set_pty_cols(size.cols);
}

}  // namespace

bool answered_list(const JobRequest& request) {
    std::string text;
    if (request.launch.mpi == "list") {
        text = "MPI plugin types are...\n";
        for (const std::string_view kind : pmi::kinds()) text += fmt::format("\t{}\n", kind);
    }
    if (request.launch.cpu_bind == "help") {
        text =
            "CPU bind options:\n"
            "    --cpu-bind=         bind tasks to processors\n"
            "        q[uiet]         say nothing about it (default)\n"
            "        v[erbose]       report the binding of each task\n"
            "        no[ne]          do not bind\n"
            "        map_cpu:<list>  by a list of processors\n"
            "        mask_cpu:<list> by a list of masks\n"
            "        sockets, cores, threads, ldoms\n"
            "                        to all processors of the sockets, cores, ... it uses\n";
    }
    if (request.launch.mem_bind == "help") {
        text =
            "Memory bind options:\n"
            "    --mem-bind=         bind memory to locality domains\n"
            "        q[uiet], v[erbose], no[ne], rank, local, map_mem:<list>, mask_mem:<list>\n";
    }
    if (text.empty()) return false;
    std::fwrite(text.data(), 1, text.size(), stdout);
    return true;
}

Status prepare(Launchable& what, const std::vector<std::string>& words) {
    JobRequest& request = what.request;
    const std::string& mpi = request.launch.mpi;
    if (!pmi::is_kind(mpi)) {
        return fail(Errc::Unsupported,
                    fmt::format("Invalid MPI type '{}', --mpi=list for acceptable types", mpi));
    }
    SY_CHECK(check_async(request));
    SY_CHECK(check_command(what));
    if (request.launch.multi_prog) SY_CHECK(prepare_multi_prog(what));
    if (request.job.name.empty()) request.job.name = base_name(what.argv.front());
    request.job.command = what.argv.front();
    fill_origin(request.job, words);
    return {};
}

Status check_async_mpi(const JobRequest& request, const config::Config& config) {
    const std::string kind = mpi_kind(request, config);
    if (pmi::is_none(kind)) return {};
    return fail(Errc::InvalidArgument,
                fmt::format("--async does not support MPI type '{}' (set by --mpi, SLURM_MPI_TYPE "
                            "or MpiDefault). Use --mpi=none to run a non-MPI program.",
                            kind));
}

void describe_launch(const Launchable& what, const config::Config& config,
                     wire::StepLaunch& launch) {
    const JobRequest& request = what.request;
    const options::Surroundings& surroundings = what.world;
    if (what.multi_prog.empty()) {
        for (const std::string& word : what.argv) launch.add_argv(word);
    } else {
        for (const std::string& line : what.multi_prog) launch.add_multi_prog(line);
    }
    for (std::string& entry : task_environment(request, surroundings))
        launch.add_environment(std::move(entry));
    launch.set_work_dir(request.job.work_dir);
    for (const model::ResourceLimit& limit : limits_to_hand_on(request, config)) {
        wire::ResourceLimit* entry = launch.add_limits();
        entry->set_resource(limit.resource);
        entry->set_soft(limit.soft);
        entry->set_hard(limit.hard);
    }
    launch.set_umask(umask_to_hand_on());
    describe_streams(request, launch);
    launch.set_cpu_bind(request.launch.cpu_bind);
    launch.set_mem_bind(request.launch.mem_bind);
    launch.set_gpu_bind(request.job.gpu_bind);
    launch.set_kill_on_bad_exit(request.launch.kill_on_bad_exit.value_or(false));
    launch.set_no_kill(request.job.no_kill);
    launch.set_mpi(mpi_kind(request, config));
    launch.set_distribution(distribution_text(request));
    launch.set_external_launcher(request.launch.external_launcher);
    launch.set_task_prolog(absolute(request.launch.task_prolog, surroundings));
    launch.set_task_epilog(absolute(request.launch.task_epilog, surroundings));
    launch.set_wait_for_children(request.launch.wait_for_children);
    const model::WarnSignal& warn = request.job.warn_signal;
    if (warn.signal != 0) {
        launch.mutable_warn_signal()->set_signal(warn.signal);
        launch.mutable_warn_signal()->set_before(warn.before.count());
        launch.mutable_warn_signal()->set_batch_only(warn.batch_only);
    }
}

}  // namespace switchyard::cli
