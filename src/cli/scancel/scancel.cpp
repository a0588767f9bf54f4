// scancel.cpp: end or signal jobs. Parse, ask, report; all policy is the controller's.
#include <fmt/format.h>

#include <cstdio>

#include "cli/commands.hpp"
#include "cli/message.hpp"
#include "cli/output.hpp"
#include "cli/scancel/scancel_options.hpp"
#include "cli/session.hpp"
#include "model/step.hpp"

namespace switchyard::cli {
namespace {

constexpr std::string_view kProgram = "scancel";
// What becomes of Slurm's number for "Invalid user id" as an exit code.
constexpr int kNotAllowed = 2010 & 0xff;

void say_done(const std::string& job, const ScancelOptions& options) {
    const bool step = job.find('.') != std::string::npos;
    const std::string what = fmt::format("{} {}", step ? "step" : "job", job);
    if (options.signal.signal == 0) {
        say(kProgram, "Terminating " + what);
    } else {
        say(kProgram, fmt::format("Signal {} to {}{}", options.signal.signal,
                                  options.signal.batch_only ? "batch " : "", what));
    }
}

// What went wrong, job by job. A job that is unknown or over is no failure: it does not run, which
// is what was wanted; only -v tells of it. So it is with steps of a job, but not with those of no
// job at all.
bool report(const client::BulkAnswer& answer, const ScancelOptions& options) {
    bool good = true;
    if (options.verbose > 0) {
        for (const std::string& job : answer.touched) say_done(job, options);
    }
    for (const client::Problem& problem : answer.problems) {
        const bool step = problem.job.find('.') != std::string::npos;
        const bool ends = options.signal.signal == 0;
        const bool gone = (problem.code == Errc::InvalidJobId && !step) ||
                          problem.code == Errc::JobFinished ||
                          (problem.code == Errc::InvalidStepId && ends);
        if (!gone) good = false;
        const bool silent = problem.code == Errc::InvalidJobId || gone;
        if (options.quiet ? silent : gone && options.verbose == 0) continue;
        say_error(kProgram, fmt::format("Kill job error on {} id {}: {}", step ? "job step" : "job",
                                        problem.job, errc_text(problem.code)));
    }
    return good;
}

bool confirms(const std::string& question) {
    print(question + " [y/n]? ");
    std::fflush(stdout);
    while (const auto answer = read_line()) {
        if (answer->starts_with('y') || answer->starts_with('Y')) return true;
        if (answer->starts_with('n') || answer->starts_with('N')) return false;
        print("Please answer y or n: ");
        std::fflush(stdout);
    }
    return false;
}

// The jobs and steps that the filter names, one by one, with the name of each for the question.
struct Candidate {
    model::JobSelector selector;
    std::string question;
};

std::vector<Candidate> candidates_of(const client::JobsChunk& found,
                                     const ScancelOptions& options) {
    std::vector<Candidate> candidates;
    for (const model::JobSelector& asked : options.filter.jobs) {
        if (!asked.step) continue;
        candidates.push_back({asked, fmt::format("Cancel step_id={}.{}", asked.job.value,
                                                 model::step_name(*asked.step))});
    }
    if (!candidates.empty()) return candidates;
    for (const model::Job& job : found.jobs) {
        model::JobSelector selector;
        selector.job = job.id;
        candidates.push_back(
            {selector, fmt::format("Cancel job_id={} name={} partition={}", model::display_id(job),
                                   job.spec->name, job.partition)});
    }
    return candidates;
}

Result<bool> cancel_asking(Session& session, const ScancelOptions& options) {
    client::JobsQuery query;
    query.filter = options.filter;
    query.hidden_partitions = true;
    SY_TRY(const client::JobsChunk found, client::fetch_jobs(session.connection, query));
    bool good = true;
    for (const Candidate& candidate : candidates_of(found, options)) {
        if (!confirms(candidate.question)) continue;
        model::JobFilter one;
        one.jobs = {candidate.selector};
        SY_TRY(const client::BulkAnswer answer,
               client::signal_jobs(session.connection, one, options.signal));
        good = report(answer, options) && good;
    }
    return good;
}

Result<bool> cancel(Session& session, const ScancelOptions& options) {
    if (options.interactive) return cancel_asking(session, options);
    SY_TRY(const client::BulkAnswer answer,
           client::signal_jobs(session.connection, options.filter, options.signal));
    return report(answer, options);
}

int run(const ScancelOptions& options) {
    auto session = open_session(std::string(kProgram));
    if (!session) {
        say_error(kProgram, session.error().message);
        return 1;
    }
    if (!is_our_cluster(kProgram, options.clusters, session->config)) return 1;
    const auto good = cancel(*session, options);
    if (!good) {
        say_error(kProgram, good.error().message);
        return good.error().code == Errc::InvalidUserId ? kNotAllowed : 1;
    }
    return *good ? 0 : 1;
}

}  // namespace

int scancel_main(int argc, char** argv) {
    char name[] = "scancel";  // getopt's messages begin with it.
    argv[0] = name;
    const ScancelParsed parsed = parse_scancel(argc, argv);
    return parsed.exit_code ? *parsed.exit_code : run(parsed.options);
}

}  // namespace switchyard::cli
