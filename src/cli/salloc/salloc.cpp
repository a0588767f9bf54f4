// salloc.cpp: obtains an allocation, runs a command in it on this host, and gives the allocation
// back.
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>

#include "cli/commands.hpp"
#include "cli/message.hpp"
#include "cli/salloc/salloc_environment.hpp"
#include "cli/session.hpp"
#include "cli/submission/allocation.hpp"
#include "cli/submission/messages.hpp"
#include "cli/submission/origin.hpp"
#include "cli/submission/questions.hpp"
#include "cli/submission/surroundings.hpp"
#include "cli/submission/user_command.hpp"
#include "model/owner_notice.hpp"
#include "options/het.hpp"
#include "options/parse.hpp"
#include "os/users.hpp"
#include "wire/proto/request.pb.h"

namespace switchyard::cli {
namespace {

using options::Command;
using options::JobRequest;

constexpr Seconds kBellAfter{10};

// The command while it runs, and what the controller tells us meanwhile.
class Run {
  public:
    Run(io::Loop& loop, ControllerLink& link, const JobRequest& request, JobId job)
        : loop_(loop),
          link_(link),
          request_(request),
          job_(job),
          command_(loop, [this](int status) {
              status_ = status;
              loop_.stop();
          }) {}

    int operator()(const UserCommand::Plan& plan) {
        // The terminal's own signals are for the command; the others are handed on to it.
        for (const int number : {SIGINT, SIGQUIT, SIGTSTP})
            signals_.push_back(loop_.on_signal(number, [] {}));
        for (const int number : {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) {
            signals_.push_back(
                loop_.on_signal(number, [this, number] { command_.signal(number); }));
        }
        if (!command_.start(plan)) {
            say_error("salloc",
                      fmt::format("_fork_command: Unable to fork: {}", std::strerror(errno)));
            return error_exit_code();
        }
        link_.listen([this](const wire::Reply& reply) { take(reply); },
                     [this] { attach(link_, job_); });
        loop_.run();
        link_.stop_listening();
        return exit_code();
    }
    bool revoked() const { return revoked_; }

  private:
    int exit_code() const {
        if (WIFEXITED(status_)) return WEXITSTATUS(status_);
        explain(request_, fmt::format("Command was terminated by signal {}", WTERMSIG(status_)));
        switch (WTERMSIG(status_)) {
            case SIGHUP:
            case SIGINT:
            case SIGQUIT:
            case SIGKILL:
                return 0;  // As a shell ends that its user sends away.
            default:
                return error_exit_code();
        }
    }

    void take(const wire::Reply& reply) {
        if (reply.has_owner_notice()) return take(reply.owner_notice());
        // A failure here answers an attach: the allocation is no more.
        if (reply.has_job_ended() || reply.has_failure()) revoke(false);
    }

    void take(const wire::OwnerNoticeReply& notice) {
        switch (static_cast<model::OwnerNotice>(notice.kind())) {
            case model::OwnerNotice::TimeLimit:
                return revoke(true);
            case model::OwnerNotice::Cancelled:
                return revoke(false);
            case model::OwnerNotice::NodeFailed:
                return say_error("salloc", fmt::format("Node failure on {}", notice.node()));
            case model::OwnerNotice::Message:
                return say("salloc", notice.text());
            case model::OwnerNotice::Suspended:
                say("salloc", "job has been suspended");
                return command_.signal(SIGSTOP);
            case model::OwnerNotice::Resumed:
                say("salloc", "job has been resumed");
                return command_.signal(SIGCONT);
        }
    }

    void revoke(bool by_time_limit) {
        if (revoked_) return;
        revoked_ = true;
        inform(request_,
               by_time_limit
                   ? fmt::format(
                         "Job {} has exceeded its time limit and its allocation has been revoked.",
                         job_.value)
                   : fmt::format("Job allocation {} has been revoked.", job_.value));
        if (request_.ask.kill_signal) {
            command_.signal(SIGCONT);
            command_.signal(*request_.ask.kill_signal);
        } else if (command_.interactive()) {
            command_.signal(SIGHUP);
        }
    }

    io::Loop& loop_;
    ControllerLink& link_;
    const JobRequest& request_;
    JobId job_;
    UserCommand command_;
    std::vector<io::Loop::Watch> signals_;
    int status_ = 0;
    bool revoked_ = false;
};

std::vector<std::string> default_command(const options::Surroundings& surroundings) {
    if (auto shell = surroundings.variable("SHELL"); shell && !shell->empty())
        return {*std::move(shell)};
    if (const auto user = os::find_user(::getuid()); user && !user->shell.empty())
        return {user->shell};
    return {"/bin/sh"};
}

void ring_bell(const JobRequest& request, std::chrono::steady_clock::time_point asked) {
    const bool long_ago = std::chrono::steady_clock::now() - asked > kBellAfter;
    if (!request.ask.bell.value_or(long_ago) || ::isatty(STDOUT_FILENO) != 1) return;
    std::fputc('\a', stdout);
    std::fflush(stdout);
}

int run_in(io::Loop& loop, ControllerLink& link, const std::vector<JobRequest>& requests,
           const Allocated& allocated, std::vector<std::string> argv,
           const options::Surroundings& surroundings) {
    const JobRequest& request = requests.front();
    const model::Job& job = allocated.job;
    UserCommand::Plan plan;
    plan.environment = salloc_environment(requests, allocated, surroundings,
                                          link.config().cluster_name, link.config().path);
    plan.program = find_program(argv.front(), plan.environment);
    bool revoked = false;
    int code = error_exit_code();
    if (plan.program.empty()) {
        say_error("salloc",
                  fmt::format("_fork_command: Unable to find command \"{}\"", argv.front()));
    } else {
        plan.argv = std::move(argv);
        Run run(loop, link, request, job.id);
        code = run(plan);
        revoked = run.revoked();
    }
    if (!revoked) inform(request, fmt::format("Relinquishing job allocation {}", job.id.value));
    return code;  // Our connection closes: the controller takes the allocation back.
}

int salloc(int argc, char** argv) {
    open_standard_streams();
    const options::Surroundings surroundings = look_around();
    const std::vector<std::string> words = words_of(argc, argv, Command::Salloc);
    options::Line line;
    std::vector<JobRequest> requests;
    auto fault = split_line(Command::Salloc, words, surroundings, line);
    if (!fault) fault = understand_components(Command::Salloc, line, {}, surroundings, requests);
    if (fault) return complain(Command::Salloc, *fault);
    JobRequest& request = requests.front();
    if (const auto code = answered_help(request)) return *code;
    std::vector<std::string> operands = std::move(line.operands);
    if (operands.empty()) operands = default_command(surroundings);
    if (const Status ready = take_identity(request); !ready) {
        say_error("salloc", ready.error().message);
        return error_exit_code();
    }
    std::vector<const JobRequest*> components;
    for (JobRequest& each : requests) {
        fill_origin(each.job, words);
        if (each.job.name.empty()) each.job.name = "interactive";
        if (&each != &request) components.push_back(&each);
    }
    for (const JobRequest& each : requests) say_what_was_understood(each);
    // The command is to run there: better to know before there is an allocation.
    if (request.chdir && ::chdir(request.chdir->c_str()) != 0) {
        say_error("salloc", fmt::format("chdir({}): {}", *request.chdir, std::strerror(errno)));
        return error_exit_code();
    }

    auto session = open_session("salloc");
    if (!session) return submission_failed(Command::Salloc, session.error(), {});
    if (request.ask.clusters && !is_our_cluster("salloc", *request.ask.clusters, session->config)) {
        return error_exit_code();
    }
    io::Loop loop;
    ControllerLink link(loop, *std::move(session), "salloc");
    const auto asked = std::chrono::steady_clock::now();
    auto obtained = obtain_allocation(loop, link, request, components);
    if (const auto* none = std::get_if<NoAllocation>(&obtained)) return none->exit_code;
    const Allocated& allocated = std::get<Allocated>(obtained);
    if (!allocated.announced)
        inform(request, fmt::format("Granted job allocation {}", allocated.job.id.value));
    ring_bell(request, asked);
    inform(request, fmt::format("Nodes {} are ready for job", node_list(allocated.job)));
    for (const model::Job& each : allocated.more)
        inform(request, fmt::format("Nodes {} are ready for job", node_list(each)));
    if (request.job.detached) return 0;
    return run_in(loop, link, requests, allocated, std::move(operands), surroundings);
}

}  // namespace
}  // namespace switchyard::cli

int switchyard::cli::salloc_main(int argc, char** argv) { return salloc(argc, argv); }
