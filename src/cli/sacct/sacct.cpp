// sacct.cpp: what became of jobs. The controller finds them in its store; they are printed as they
// arrive, so a long history is never held as records.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <tuple>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/message.hpp"
#include "cli/output.hpp"
#include "cli/sacct/sacct_options.hpp"
#include "cli/session.hpp"
#include "model/time_format.hpp"
#include "view/accounting/sacct_document.hpp"
#include "wire/codec.hpp"

namespace switchyard::cli {
namespace {

constexpr std::string_view kProgram = "sacct";

// The batch step before those of srun, as their numbers are in Slurm: below zero.
bool comes_before(const model::Step& a, const model::Step& b) {
    return static_cast<std::int32_t>(a.key.step.value) <
           static_cast<std::int32_t>(b.key.step.value);
}

// The steps of one run, in order, out of a chunk that has those of many.
std::vector<model::Step> steps_of(const model::Job& job, const std::vector<model::Step>& all) {
    const StepKey first{.job = job.id, .attempt = job.attempt, .step = StepId{0}};
    const auto begin = std::ranges::lower_bound(all, first, {}, &model::Step::key);
    std::vector<model::Step> steps;
    for (auto at = begin;
         at != all.end() && at->key.job == job.id && at->key.attempt == job.attempt; ++at) {
        steps.push_back(*at);
    }
    std::ranges::sort(steps, comes_before);
    return steps;
}

bool is_last_element(const model::Job& job) {
    return job.array && job.array->element && job.id == job.array->array_id && model::start_of(job);
}

// When its id was given out: an element gets one when it starts.
Instant numbered(const model::Job& job) {
    const auto start = model::start_of(job);
    return job.array && job.array->element && start ? *start : job.submitted;
}

// Records come in the order of their ids. The last element of an array bears the array's, which is
// older than those of the other elements: it is kept until its own time has come.
class LastElements {
  public:
    void add(const model::Job& job, std::vector<model::Step> steps) {
        kept_.emplace(numbered(job), std::pair(job, std::move(steps)));
    }
    template <class Each>
    void take_older(Instant than, Each& each) {
        while (!kept_.empty() && kept_.begin()->first < than) {
            const auto& [job, steps] = kept_.begin()->second;
            each(job, steps);
            kept_.erase(kept_.begin());
        }
    }

  private:
    std::multimap<Instant, std::pair<model::Job, std::vector<model::Step>>> kept_;
};

class Listing {
  public:
    Listing(SacctOptions& options, Session& session) : options_(options), session_(session) {
        options_.view.cluster = session.config.cluster_name;
    }

    Status print_table(const view::ReportTable<view::SacctRow>& table) {
        print(table.header());
        return for_each([&](const model::Job& job, const std::vector<model::Step>& steps) {
            print_job(table, job, steps);
        });
    }

    Status print_document() {
        view::Document document = open_document(options_.document);
        document.begin_list("jobs");
        SY_CHECK(for_each([&](const model::Job& job, const std::vector<model::Step>& steps) {
            view::write_history(document, {.job = job,
                                           .step = nullptr,
                                           .steps = steps,
                                           .view = options_.view,
                                           .joules = view::joules_of(steps)});
        }));
        document.end();
        close_document(document, options_.document, options_.view.cluster);
        return {};
    }

    Status print_payloads() {
        return for_each(
            [&](const model::Job& job, const std::vector<model::Step>&) { print_payload(job); });
    }

  private:
    // Of an array asked for by its id: its elements in order, then those that wait. The record that
    // bears the array's own id stands for the last of them.
    static void sort_elements(std::vector<model::Job>& jobs) {
        const auto key = [](const model::Job& job) {
            const JobId group = job.array ? job.array->array_id : job.id;
            const auto element = job.array && job.array->element ? *job.array->element : UINT32_MAX;
            return std::tuple(group, element, job.id, job.attempt);
        };
        std::ranges::sort(jobs, {}, key);
    }

    Status add_companions(client::JobsChunk& all) {
        client::JobsQuery query = options_.query;
        query.filter.jobs = companions(options_, all.jobs);
        if (query.filter.jobs.empty()) return {};
        SY_TRY(client::JobsChunk more, client::fetch_jobs(session_.connection, query));
        std::ranges::move(more.jobs, std::back_inserter(all.jobs));
        std::ranges::move(more.steps, std::back_inserter(all.steps));
        std::ranges::sort(all.steps, {}, &model::Step::key);
        std::ranges::move(query.filter.jobs, std::back_inserter(options_.query.filter.jobs));
        return {};
    }

    template <class Each>
    Status for_each(Each each) {
        if (!options_.query.filter.jobs.empty()) {
            SY_TRY(client::JobsChunk all, client::fetch_jobs(session_.connection, options_.query));
            options_.view.now = all.now;
            SY_CHECK(add_companions(all));
            sort_elements(all.jobs);
            for (const model::Job& job : all.jobs) {
                if (is_wanted(options_, job)) each(job, steps_of(job, all.steps));
            }
            return {};
        }
        LastElements waiting;
        SY_CHECK(client::query_jobs(session_.connection, options_.query,
                                    [&](const client::JobsChunk& chunk) {
                                        options_.view.now = chunk.now;
                                        for (const model::Job& job : chunk.jobs) {
                                            if (!is_wanted(options_, job)) continue;
                                            waiting.take_older(numbered(job), each);
                                            if (is_last_element(job)) {
                                                waiting.add(job, steps_of(job, chunk.steps));
                                            } else {
                                                each(job, steps_of(job, chunk.steps));
                                            }
                                        }
                                    }));
        waiting.take_older(Instant::max(), each);
        return {};
    }

    void print_job(const view::ReportTable<view::SacctRow>& table, const model::Job& job,
                   const std::vector<model::Step>& steps) {
        std::span<const model::Step> shown;
        if (!options_.allocations) shown = steps;
        const view::SacctRow row{.job = job,
                                 .step = nullptr,
                                 .steps = shown,
                                 .view = options_.view,
                                 .joules = view::joules_of(steps)};
        if (wants_job_line(options_, job)) {
            if (options_.each_element && job.array && !job.array->element) {
                for (const std::uint32_t element : job.array->pending.to_vector()) {
                    view::SacctRow one = row;
                    one.element = element;
                    print(table.line(one));
                }
            } else {
                print(table.line(row));
            }
        }
        for (const model::Step& step : shown) {
            if (!is_wanted(options_, job, step)) continue;
            print(table.line({.job = job, .step = &step, .steps = {}, .view = options_.view}));
        }
    }

    void print_payload(const model::Job& job) {
        wire::Request request;
        request.mutable_script()->set_job(job.id.value);
        request.mutable_script()->set_history(true);
        const auto reply = session_.connection.call(request);
        const std::string id = model::display_id(job);
        const std::string line(80, '-');
        if (options_.scripts) {
            std::string script = reply ? reply->script().script() : std::string();
            if (script.empty()) script = "NONE\n";
            if (!script.ends_with('\n')) script += '\n';
            print(fmt::format("Batch Script for {}\n{}\n{}", id, line, script));
        }
        if (options_.environments) {
            std::string text;
            if (reply) {
                for (const std::string& entry : reply->script().environment()) text += entry + '\n';
            }
            print(fmt::format("Environment used for {} (must be batch to display)\n{}\n{}", id,
                              line, text.empty() ? "NONE\n" : text));
        }
    }

    SacctOptions& options_;
    Session& session_;
};

int run(SacctOptions& options) {
    const auto table = view::ReportTable<view::SacctRow>::make(view::sacct_fields(), options.format,
                                                               options.style);
    if (!table && equals_ignoring_case(table.error().message, "ReqGRES")) {
        say(kProgram, "fatal: ReqGRES has been removed, please use ReqTRES");
        return 1;
    }
    if (!table) {
        return refuse(kProgram,
                      fmt::format("Invalid field requested: \"{}\"", table.error().message));
    }
    if (options.verbose > 0) {
        say(kProgram, fmt::format("Jobs eligible from {} - {}", model::format_instant(options.from),
                                  model::format_instant(options.to)));
    }
    auto session = open_session(std::string(kProgram));
    if (!session) {
        say_call_failed(kProgram, "Problem talking to the controller", session.error());
        return 1;
    }
    if (!is_our_cluster(kProgram, options.clusters, session->config)) return 1;
    Listing listing(options, *session);
    Status done;
    if (options.document.kind) {
        done = listing.print_document();
    } else if (options.scripts || options.environments) {
        done = listing.print_payloads();
    } else {
        done = listing.print_table(*table);
    }
    std::fflush(stdout);
    if (!done) say_call_failed(kProgram, "Problem talking to the controller", done.error());
    return done ? 0 : 1;
}

int command_main(int argc, char** argv) {
    const Instant now = std::chrono::floor<Millis>(std::chrono::system_clock::now());
    SacctParsed parsed = parse_sacct(argc, argv, now);
    return parsed.exit_code ? *parsed.exit_code : run(parsed.options);
}

}  // namespace

int sacct_main(int argc, char** argv) { return command_main(argc, argv); }

}  // namespace switchyard::cli
