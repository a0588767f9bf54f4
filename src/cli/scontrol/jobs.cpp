// jobs.cpp: hold, release, requeue, suspend and the other commands that take a list of
// jobs.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.hpp"
#include "cli/job_ids.hpp"
#include "cli/message.hpp"
#include "cli/output.hpp"
#include "cli/scontrol/scontrol.hpp"
#include "model/hostlist.hpp"

namespace switchyard::cli {
namespace {

using Selectors = std::vector<model::JobSelector>;

// "jobname=x" and "name=x" stand for all jobs of that name that are not over.
Result<Selectors> jobs_named(Session& session, const std::string& name) {
    client::JobsQuery query;
    query.filter.names = {name};
    query.hidden_partitions = true;
    SY_TRY(const client::JobsChunk found, client::fetch_jobs(session.connection, query));
    Selectors selectors;
    for (const model::Job& job : found.jobs) {
        model::JobSelector selector;
        selector.job = job.id;
        selectors.push_back(selector);
    }
    if (selectors.empty())
        return fail(Errc::InvalidJobId, fmt::format("Job name {} not found", name));
    return selectors;
}

Result<Selectors> selectors_of(Session& session, const Words& words) {
    Selectors selectors;
    for (const std::string& word : words) {
        const std::size_t equals = word.find('=');
        const std::string key = to_lower(word.substr(0, equals));
        if (equals != std::string::npos && (key == "jobname" || key == "name")) {
            SY_TRY(const Selectors named, jobs_named(session, word.substr(equals + 1)));
            selectors.insert(selectors.end(), named.begin(), named.end());
            continue;
        }
        const bool keyed = equals != std::string::npos && (key == "jobid" || key == "job");
        const auto parsed = parse_job_list(keyed ? word.substr(equals + 1) : word);
        if (!parsed) {
            return fail(Errc::InvalidJobId,
                        fmt::format("Invalid job id specified for job {}", parsed.error().message));
        }
        selectors.insert(selectors.end(), parsed->begin(), parsed->end());
    }
    return selectors;
}

using Call = std::function<Result<client::BulkAnswer>(client::Connection&, const Selectors&)>;

void for_jobs(Scontrol& control, const Words& words, std::string_view command, const Call& call) {
    if (words.empty()) {
        control.complain(fmt::format("too few arguments for keyword:{}", command));
        return;
    }
    Session* session = control.session(fmt::format("slurm_{} error", command));
    if (session == nullptr) return;
    const auto selectors = selectors_of(*session, words);
    if (!selectors) return control.complain(selectors.error().message);
    const auto answer = call(session->connection, *selectors);
    if (!answer) return control.say_failed(fmt::format("slurm_{} error", command), answer.error());
    for (const client::Problem& problem : answer->problems) {
        control.complain(fmt::format("{} for job {}", errc_text(problem.code), problem.job));
    }
}

bool take_word(Words& words, std::string_view word) {
    if (words.empty() || !equals_ignoring_case(words.front(), word)) return false;
    words.erase(words.begin());
    return true;
}

void requeue_jobs(Scontrol& control, Words words, bool held, std::string_view command) {
    client::RequeueWish wish{.hold = held};
    for (bool more = true; more;) {
        more = false;
        if (take_word(words, "incomplete")) more = wish.incomplete_only = true;
        if (words.empty() || !starts_with_ignoring_case(words.front(), "state=")) continue;
        const std::string state = words.front().substr(std::string_view("state=").size());
        const bool special =
            equals_ignoring_case(state, "SpecialExit") || equals_ignoring_case(state, "SE");
        // Only a held job can be in a state of its own.
        if (!held || !special) return control.complain("Invalid state: " + state);
        more = wish.special_exit = true;
        words.erase(words.begin());
    }
    // A job that requeues itself ends this process too: hear the answer first, as scripts and
    // training programs look at the exit code.
    ::signal(SIGTERM, SIG_IGN);
    for_jobs(control, words, command, [&](client::Connection& connection, const Selectors& jobs) {
        return client::requeue_jobs(connection, jobs, wish);
    });
}

}  // namespace

void hold(Scontrol& control, const Words& words) {
    for_jobs(control, words, "hold", [](client::Connection& connection, const Selectors& jobs) {
        return client::hold_jobs(connection, jobs, true, false);
    });
}

void user_hold(Scontrol& control, const Words& words) {
    for_jobs(control, words, "uhold", [](client::Connection& connection, const Selectors& jobs) {
        return client::hold_jobs(connection, jobs, true, true);
    });
}

void release(Scontrol& control, const Words& words) {
    for_jobs(control, words, "release", [](client::Connection& connection, const Selectors& jobs) {
        return client::hold_jobs(connection, jobs, false, false);
    });
}

void requeue(Scontrol& control, const Words& words) {
    requeue_jobs(control, words, false, "requeue");
}
void requeue_hold(Scontrol& control, const Words& words) {
    requeue_jobs(control, words, true, "requeuehold");
}

void suspend(Scontrol& control, const Words& words) {
    for_jobs(control, words, "suspend", [](client::Connection& connection, const Selectors& jobs) {
        return client::suspend_jobs(connection, jobs, false);
    });
}
void resume(Scontrol& control, const Words& words) {
    for_jobs(control, words, "resume", [](client::Connection& connection, const Selectors& jobs) {
        return client::suspend_jobs(connection, jobs, true);
    });
}

void top(Scontrol& control, const Words& words) {
    for_jobs(control, words, "top", [](client::Connection& connection, const Selectors& jobs) {
        return client::top_jobs(connection, jobs);
    });
}

void cancel(Scontrol& control, const Words& words) {
    for_jobs(control, words, "cancel", [](client::Connection& connection, const Selectors& jobs) {
        model::JobFilter filter;
        filter.jobs = jobs;
        return client::signal_jobs(connection, filter, {});
    });
}

// Until the job has its nodes, or is over.
void wait_job(Scontrol& control, const Words& words) {
    if (words.empty()) return control.complain("too few arguments for keyword:wait_job");
    if (words.size() > 1) return control.complain("too many arguments for keyword:wait_job");
    Session* session = control.session("slurm_job_node_ready error");
    if (session == nullptr) return;
    const auto selectors = parse_job_list(words[0]);
    if (!selectors || selectors->size() != 1) {
        return control.complain(fmt::format("Invalid job id specified for job {}", words[0]));
    }
    client::JobsQuery query;
    query.filter.jobs = *selectors;
    query.all_states = true;
    query.one_job = true;
    query.hidden_partitions = true;
    for (;;) {
        const auto found = client::fetch_jobs(session->connection, query);
        const bool running = found && std::ranges::any_of(found->jobs, [](const model::Job& job) {
                                 return !model::is_finished(job);
                             });
        if (!running) {
            return control.complain(fmt::format("scontrol: Problem running job {}", words[0]));
        }
        const bool waits = std::ranges::any_of(found->jobs, [](const model::Job& job) {
            return model::state_of(job) == model::JobState::Pending;
        });
        if (!waits) return say("scontrol", fmt::format("Nodes are ready for job {}", words[0]));
        usleep(200'000);
    }
}

void completing(Scontrol& control, const Words&) {
    Session* session = control.session("slurm_load_jobs error");
    if (session == nullptr) return;
    client::JobsQuery query;
    query.filter.states = {model::JobState::Completing};
    query.all_states = true;
    query.hidden_partitions = true;
    const auto found = client::fetch_jobs(session->connection, query);
    if (!found) return control.say_failed("slurm_load_jobs error", found.error());
    for (const model::Job& job : found->jobs) {
        const auto* phase = std::get_if<model::Completing>(&job.phase);
        if (phase == nullptr) continue;
        const Seconds since = whole_seconds(found->now) - whole_seconds(phase->ended);
        print(fmt::format("JobId={} EndTime={} CompletingTime={} Nodes(COMPLETING)={}\n",
                          job.id.value, model::format_instant(phase->ended),
                          model::format_duration(since),
                          model::compress_hostlist(phase->dirty_nodes)));
    }
}

}  // namespace switchyard::cli
