// swait.cpp: waits for the steps of a job: all of them, or one.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/job_ids.hpp"
#include "cli/message.hpp"
#include "cli/option_table.hpp"
#include "cli/output.hpp"
#include "cli/session.hpp"
#include "wire/codec.hpp"

namespace switchyard::cli {
namespace {

constexpr std::string_view kProgram = "swait";
constexpr Millis kRetryEvery{200};
constexpr int kTimedOut = 1, kFailed = 2, kNoSuchStep = 3;

struct WaitOptions {
    bool follow = false, quiet = false;
    int verbose = 0;
    std::optional<Seconds> timeout;
};

Taken keep_timeout(WaitOptions& options, const OptionUse& use) {
    const auto seconds = parse_uint(use.value);
    if (!seconds || *seconds > UINT32_MAX)
        return refuse(use.program, fmt::format("Invalid --timeout value: {}", use.value));
    if (*seconds != 0) options.timeout = Seconds{static_cast<std::int64_t>(*seconds)};
    return std::nullopt;
}

const Option<WaitOptions> kOptions[] = {
    {{"follow", 0, Argument::None, "", "tell of each step as it ends"}, flag<&WaitOptions::follow>},
    {{"quiet", 'Q', Argument::None, "", "print nothing but errors"}, flag<&WaitOptions::quiet>},
    {{"timeout", 0, Argument::Required, "SECONDS", "give up after so long, with exit code 1"},
     keep_timeout},
    {{"verbose", 'v', Argument::None, "", "say what is waited for"}, count<&WaitOptions::verbose>},
};
constexpr CommandText kText{
    .program = kProgram,
    .operands = "[JOB[.STEP]]",
    .purpose =
        "Waits until no step of a job runs or is queued, or until one step has ended. Without a "
        "job: the "
        "job\nthat it is run in.",
    .footer =
        "The exit code is 0 when the wait is over, 1 after --timeout, 2 after an error, and 3 "
        "when\nthere is no such step (any more). With --follow, or for one step, it is printed "
        "how it\nended: StepId=12.0 code=0:0.\n",
    .help_letter = 'h',
    .takes_words = true};

Result<model::JobSelector> target_of(const std::vector<std::string>& words) {
    std::string text = words.empty() ? "" : words.front();
    if (words.size() > 1)
        return fail(Errc::InvalidArgument, "one job, or one step, can be waited for");
    if (text.empty()) {
        const char* own = std::getenv("SLURM_JOB_ID");
        if (own == nullptr || *own == '\0')
            return fail(Errc::InvalidArgument, "no job was given, and this is none (SLURM_JOB_ID)");
        text = own;
    }
    auto target = model::parse_job_selector(text);
    const bool several = target && (target->all_elements || target->component ||
                                    (target->elements && target->elements->size() != 1));
    const bool special = target && target->step &&
                         (*target->step == kBatchStep || *target->step == kExternStep ||
                          *target->step == kInteractiveStep);
    if (!target || several || special)
        return fail(Errc::InvalidArgument, fmt::format("Invalid job or step: {}", text));
    return target;
}

// The id of the one job that is meant, an element of an array too.
Result<JobId> find_job(Session& session, const model::JobSelector& target) {
    client::JobsQuery query;
    query.filter.jobs = {target};
    query.filter.jobs.front().step.reset();
    query.all_states = true;
    query.one_job = true;
    query.hidden_partitions = true;
    SY_TRY(const client::JobsChunk found, client::fetch_jobs(session.connection, query));
    if (found.jobs.empty())
        return fail(Errc::InvalidJobId, std::string(errc_text(Errc::InvalidJobId)));
    if (found.jobs.size() > 1)
        return fail(Errc::InvalidArgument, "it is an array: say which element (JOB_TASK)");
    const model::Job& job = found.jobs.front();
    if (model::base_state_of(job) == model::JobState::Pending)
        return fail(Errc::JobPending, fmt::format("Job {} is still pending", job.id.value));
    return job.id;
}

std::string line_of(const model::Step& step) {
    std::string line =
        fmt::format("StepId={} code={}", model::to_string(step.key), to_string(step.end->exit));
    using State = model::JobState;
    const State state = step.end->state;
    const bool tells = state == State::NodeFail || state == State::OutOfMemory ||
                       state == State::Timeout || state == State::Cancelled;
    if (tells) line += fmt::format(" reason={}", model::long_name(state));
    return line + "\n";
}

class Waiting {
  public:
    Waiting(Session& session, const WaitOptions& options, const model::JobSelector& target,
            JobId job)
        : session_(session), options_(options), target_(target), job_(job) {}

    // A controller that is restarted meanwhile is asked again.
    Result<int> run() {
        if (options_.timeout) until_ = std::chrono::steady_clock::now() + *options_.timeout;
        if (options_.verbose > 0) say(kProgram, fmt::format("waiting for job {}", job_.value));
        for (;;) {
            auto code = listen();
            const bool away = !code && code.error().code == Errc::Unreachable;
            if (!away) return code;
            if (!reconnect()) return timed_out();
        }
    }

  private:
    Result<int> listen() {
        wire::Request request;
        request.mutable_wait_steps()->set_job(job_.value);
        if (target_.step) request.mutable_wait_steps()->set_step(target_.step->value);
        SY_TRY(const std::uint64_t id, session_.connection.send(request));
        for (;; waited_ = true) {
            const auto left = time_left();
            if (left && left->count() <= 0) return timed_out();
            const auto reply = session_.connection.receive_for(id, left);
            if (!reply && reply.error().code == Errc::Timeout && left) return timed_out();
            if (!reply) return Failure{reply.error()};
            if (reply->has_failure()) return Failure{client::error_of(*reply)};
            SY_CHECK(tell(reply->step_ends()));
            if (reply->last()) return finish(waited_ || told_);
        }
    }

    std::optional<Millis> time_left() const {
        if (!until_) return std::nullopt;
        return std::chrono::ceil<Millis>(*until_ - std::chrono::steady_clock::now());
    }

    // False: not before the time was over.
    bool reconnect() {
        waited_ = true;
        for (;;) {
            const auto left = time_left();
            if (left && left->count() <= 0) return false;
            std::this_thread::sleep_for(left ? std::min(*left, kRetryEvery) : kRetryEvery);
            auto connection =
                client::Connection::open(session_.config, std::string(kProgram), Millis{0});
            if (!connection) continue;
            session_.connection = *std::move(connection);
            return true;
        }
    }

    int timed_out() const {
        say_error(kProgram, fmt::format("timed out after {} seconds", options_.timeout->count()));
        return kTimedOut;
    }

    Status tell(const wire::StepEndsReply& ends) {
        for (const wire::Step& message : ends.steps()) {
            SY_TRY(const model::Step step, wire::decode(message));
            if (!step.end) continue;
            told_ = true;
            if ((options_.follow || target_.step) && !options_.quiet) print(line_of(step));
        }
        return {};
    }

    // Without a wait there is nothing to say.
    int finish(bool waited) {
        if (target_.step) return told_ ? 0 : kNoSuchStep;
        const bool tells = waited && options_.follow && !options_.quiet;
        if (tells) print(fmt::format("JobId={} steps drained\n", job_.value));
        return 0;
    }

    Session& session_;
    const WaitOptions& options_;
    const model::JobSelector& target_;
    JobId job_;
    bool told_ = false, waited_ = false;
    std::optional<std::chrono::steady_clock::time_point> until_;
};

}  // namespace

int swait_main(int argc, char** argv) {
    WaitOptions options;
    const ParsedLine line = parse_options(kText, kOptions, options, argc, argv);
    if (line.exit_code) return *line.exit_code == 0 ? 0 : kFailed;
    const auto refused = [](const std::string& why) {
        say_error(kProgram, why);
        return kFailed;
    };
    if (options.quiet && options.verbose > 0)
        return refused("--quiet and --verbose are mutually exclusive");
    const auto target = target_of(line.words);
    if (!target) return refused(target.error().message);
    if (options.follow && target->step)
        return refused("--follow and a step are mutually exclusive");
    auto session = open_session(std::string(kProgram));
    if (!session) {
        say_call_failed(kProgram, "swait error", session.error());
        return kFailed;
    }
    const auto job = find_job(*session, *target);
    const auto code =
        job ? Waiting(*session, options, *target, *job).run() : Result<int>(Failure{job.error()});
    if (code) return *code;
    return refused(code.error().message);
}

}  // namespace switchyard::cli
