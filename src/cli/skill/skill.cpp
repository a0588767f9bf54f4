// skill.cpp: `skill -9 JOBID` sends a signal to every process of a job, the batch script too.
// Whatever else is typed is for the system's own skill, which this name hides: it is found further
// along PATH, or beside us under the name that our Debian package gives it. snice is the same
// program as skill there, by a link that comes to us.
#include <fmt/format.h>
#include <limits.h>
#include <unistd.h>

#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/job_ids.hpp"
#include "cli/message.hpp"
#include "cli/session.hpp"
#include "model/signals.hpp"

namespace switchyard::cli {
namespace {

constexpr std::string_view kProgram = "skill";
constexpr std::string_view kDiverted = "skill.procps";  // See packaging/debian/preinst.

struct JobKill {
    int signal;
    std::vector<model::JobSelector> jobs;
};

// "-SIGNAL id...", and nothing else.
std::optional<JobKill> as_job_kill(int argc, char** argv) {
    if (argc < 3 || argv[1][0] != '-') return std::nullopt;
    const auto signal = model::parse_signal(argv[1] + 1);
    if (!signal) return std::nullopt;
    JobKill kill{*signal, {}};
    for (int i = 2; i < argc; ++i) {
        const auto selectors = parse_job_list(argv[i]);
        if (!selectors) return std::nullopt;
        kill.jobs.insert(kill.jobs.end(), selectors->begin(), selectors->end());
    }
    return kill.jobs.empty() ? std::nullopt : std::optional(kill);
}

// Nullopt: none of them is a job here.
std::optional<int> signal_jobs(const JobKill& kill) {
    auto session = open_session(std::string(kProgram));
    if (!session) return std::nullopt;
    model::JobFilter filter;
    filter.jobs = kill.jobs;
    client::SignalOptions options;
    options.signal = kill.signal;
    options.full = true;
    const auto answer = client::signal_jobs(session->connection, filter, options);
    if (!answer) {
        say_error(kProgram, answer.error().message);
        return 1;
    }
    bool unknown = answer->touched.empty() && answer->matched == 0;
    int code = 0;
    for (const client::Problem& problem : answer->problems) {
        if (problem.code == Errc::InvalidJobId) continue;
        unknown = false;
        say_error(kProgram, fmt::format("Kill job error on job id {}: {}", problem.job,
                                        errc_text(problem.code)));
        code = 1;
    }
    return unknown ? std::nullopt : std::optional(code);
}

std::string real_path(const std::string& path) {
    char resolved[PATH_MAX];
    return realpath(path.c_str(), resolved) != nullptr ? std::string(resolved) : std::string();
}

// The first program of that name that is not ourselves.
std::string find_program(std::string_view name) {
    const char* path = std::getenv("PATH");
    const std::string ourselves = real_path("/proc/self/exe");
    for (const std::string_view folder : split(path != nullptr ? path : "/usr/bin:/bin", ':')) {
        const std::string candidate = fmt::format("{}/{}", folder, name);
        if (access(candidate.c_str(), X_OK) == 0 && real_path(candidate) != ourselves) {
            return candidate;
        }
    }
    return {};
}

// The first of these programs that is there takes over; its absence is what the user is told.
int hand_on(char** argv, std::initializer_list<std::string_view> names,
            std::string_view otherwise) {
    for (const std::string_view name : names) {
        const std::string program = find_program(name);
        if (!program.empty()) execv(program.c_str(), argv);
    }
    say_error(kProgram, fmt::format("{}no other skill command is installed", otherwise));
    return 1;
}

}  // namespace

int skill_main(int argc, char** argv) {
    if (std::string_view(argv[0]).ends_with("snice")) return hand_on(argv, {kDiverted}, "");
    if (const auto kill = as_job_kill(argc, argv); kill) {
        if (const auto code = signal_jobs(*kill); code) return *code;
        // pkill takes numbers as parts of program names: not what somebody means who types an id.
        return hand_on(argv, {kDiverted, "skill"}, "no such job, and ");
    }
    return hand_on(argv, {kDiverted, "skill", "pkill"}, "usage: skill -SIGNAL JOBID...; ");
}

}  // namespace switchyard::cli
