// sbatch.cpp: submits a script and says its number; with --wait, stays until it has ended.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

#include "cli/commands.hpp"
#include "cli/message.hpp"
#include "cli/sbatch/batch_script.hpp"
#include "cli/session.hpp"
#include "cli/submission/batch_environment.hpp"
#include "cli/submission/controller_link.hpp"
#include "cli/submission/messages.hpp"
#include "cli/submission/origin.hpp"
#include "cli/submission/questions.hpp"
#include "cli/submission/surroundings.hpp"
#include "cli/submission/test_only.hpp"
#include "options/het.hpp"
#include "options/parse.hpp"
#include "wire/codec.hpp"

namespace switchyard::cli {
namespace {

using options::Command;
using options::JobRequest;

constexpr int kBusyRetriesMax = 15;

// What was asked for: one request, or one for each component of a heterogeneous job.
struct Understood {
    std::vector<JobRequest> requests;
    BatchScript script;
};

// The exit code when there is nothing to submit.
struct Exit {
    int code;
};

std::variant<Understood, Exit> understand(const std::vector<std::string>& words,
                                          const options::Surroundings& surroundings) {
    // First the command line by itself: it says where the script is.
    options::Line line;
    if (auto fault = split_line(Command::Sbatch, words, surroundings, line))
        return Exit{complain(Command::Sbatch, *fault)};
    JobRequest first;
    for (const auto& component : line.components) {
        if (auto fault =
                apply_words(first, component, options::Source::CommandLine, surroundings, nullptr))
            return Exit{complain(Command::Sbatch, *fault)};
    }
    if (const auto code = answered_help(first)) return Exit{*code};
    auto script = obtain_script(first, line.operands, surroundings);
    if (!script) return Exit{error_exit_code()};

    Understood understood{.requests = {}, .script = *std::move(script)};
    const auto directives =
        options::split_directives(options::scan_directives(understood.script.text));
    if (auto fault = understand_components(Command::Sbatch, line, directives, surroundings,
                                           understood.requests))
        return Exit{complain(Command::Sbatch, *fault)};
    if (const auto code = answered_help(understood.requests.front())) return Exit{*code};
    return understood;
}

void complete_jobs(Understood& understood, const std::vector<std::string>& words,
                   const Session& session) {
    for (JobRequest& each : understood.requests) {
        fill_origin(each.job, words, session.connection.is_relayed());
        if (each.job.name.empty()) each.job.name = understood.script.default_name;
        each.job.command = understood.script.path;
    }
}

// The submission, complete.
Result<wire::Request> compose(Understood& understood, options::Surroundings surroundings,
                              const Session& session) {
    JobRequest& first = understood.requests.front();
    model::JobPayload payload;
    payload.script = std::move(understood.script.text);
    payload.arguments = std::move(understood.script.arguments);
    SY_TRY(payload.environment, batch_environment(first, std::move(surroundings)));
    payload.limits = limits_to_hand_on(first, session.config);
    payload.umask = umask_to_hand_on();

    wire::Request request;
    wire::SubmitRequest* submit = request.mutable_submit();
    wire::encode(first.job, submit->mutable_spec());
    for (std::size_t i = 1; i < understood.requests.size(); ++i)
        wire::encode(understood.requests[i].job, submit->add_components());
    wire::encode(std::move(payload), submit->mutable_payload());
    return request;
}

// Asks again while the controller is over one of its limits; it says so, and it passes.
Result<wire::Reply> submit_patiently(client::Connection& connection, wire::Request& request) {
    for (int attempt = 1;; ++attempt) {
        auto reply = call_patiently(connection, request);
        const bool busy =
            !reply && (reply.error().code == Errc::TooManyJobs || reply.error().code == Errc::Busy);
        if (!busy || attempt == kBusyRetriesMax) return reply;
        if (attempt == 1) say_error("sbatch", reply.error().message);
        std::this_thread::sleep_for(Seconds{attempt});
    }
}

void announce(const JobRequest& request, const config::Config& config, std::uint32_t job) {
    const bool named = request.ask.clusters.has_value();
    std::string text;
    if (request.ask.parsable) {
        text = named ? fmt::format("{};{}\n", job, config.cluster_name) : fmt::format("{}\n", job);
    } else if (request.ask.quiet == 0) {
        text = named
                   ? fmt::format("Submitted batch job {} on cluster {}\n", job, config.cluster_name)
                   : fmt::format("Submitted batch job {}\n", job);
    }
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

int tell_when(const Understood& understood, client::Connection& connection) {
    std::vector<const JobRequest*> components;
    for (const JobRequest& each : understood.requests) components.push_back(&each);
    return tell_starts(
        Command::Sbatch, components,
        {.call = [&](wire::Request& request) { return submit_patiently(connection, request); },
         .notes = [&] { return connection.last_notes(); }});
}

// The exit code of the job: its script's, or 1 when a signal ended it.
int wait_for_end(client::Connection& connection, std::uint32_t job) {
    while (true) {
        wire::Request request;
        request.mutable_wait()->set_job(job);
        // A controller may take hours to answer, and may be restarted meanwhile: then we ask again.
        auto sent = connection.send(request);
        auto reply = sent ? connection.receive() : Result<wire::Reply>(Failure{sent.error()});
        if (!reply) {
            wire::Request again;
            again.mutable_ping();
            if (const auto alive = connection.call(again);
                !alive && alive.error().code != Errc::Unreachable) {
                say_error("sbatch",
                          fmt::format("Unable to wait for job {}: {}", job, alive.error().message));
                return error_exit_code();
            }
            continue;
        }
        if (reply->has_failure()) {
            say_error("sbatch", fmt::format("Unable to wait for job {}: {}", job,
                                            client::error_of(*reply).message));
            return error_exit_code();
        }
        if (!reply->has_job_ended()) continue;
        const int status = static_cast<int>(reply->job_ended().worst_wait_status());
        return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    }
}

// Everything is said: what was made on the way is the kernel's to free, which does it at once.
[[noreturn]] void leave(int code) {
    std::fflush(nullptr);
    ::_exit(code);
}

int sbatch(int argc, char** argv) {
    open_standard_streams();
    options::Surroundings surroundings = look_around();
    const std::vector<std::string> words = words_of(argc, argv, Command::Sbatch);
    auto result = understand(words, surroundings);
    if (const Exit* exit = std::get_if<Exit>(&result)) return exit->code;
    Understood& understood = std::get<Understood>(result);
    const JobRequest& request = understood.requests.front();
    for (const JobRequest& each : understood.requests) say_what_was_understood(each);
    if (const Status ready = take_identity(request); !ready) {
        say_error("sbatch", ready.error().message);
        return error_exit_code();
    }

    auto session = open_session("sbatch");
    if (!session) return submission_failed(Command::Sbatch, session.error(), {});
    if (request.ask.clusters && !is_our_cluster("sbatch", *request.ask.clusters, session->config)) {
        return error_exit_code();
    }
    complete_jobs(understood, words, *session);
    if (request.ask.test_only) return tell_when(understood, session->connection);
    auto submission = compose(understood, std::move(surroundings), *session);
    if (!submission) {
        say_error("sbatch", submission.error().message);
        return error_exit_code();
    }
    const auto reply = submit_patiently(session->connection, *submission);
    if (!reply)
        return submission_failed(Command::Sbatch, reply.error(), session->connection.last_notes());
    announce(request, session->config, reply->submitted().job());
    leave(request.ask.wait ? wait_for_end(session->connection, reply->submitted().job()) : 0);
}

}  // namespace
}  // namespace switchyard::cli

int switchyard::cli::sbatch_main(int argc, char** argv) { return sbatch(argc, argv); }
