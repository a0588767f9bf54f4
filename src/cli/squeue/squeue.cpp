// squeue.cpp: list jobs and steps. Ask the controller, turn each job into a line as it arrives,
// print the lines in order: a long queue is never held as records.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <set>

#include "cli/commands.hpp"
#include "cli/job_lookup.hpp"
#include "cli/last_backfill.hpp"
#include "cli/message.hpp"
#include "cli/output.hpp"
#include "cli/session.hpp"
#include "cli/squeue/squeue_options.hpp"
#include "view/job/job_document.hpp"
#include "view/step/step_document.hpp"

namespace switchyard::cli {
namespace {

constexpr std::string_view kProgram = "squeue";
constexpr std::size_t kBlockBytes = 64u << 10;

// Asks and prints once. The tables were made before, so that a bad format is told before anything
// is asked.
class Listing {
  public:
    Listing(const SqueueOptions& options, Session& session)
        : options_(options), session_(session), query_(options.query), view_(options.view) {
        view_.cluster = session.config.cluster_name;
    }

    Status print_jobs(const view::JobTable& table) {
        view::SortedLines lines;
        query_.brief = table.is_brief() && options_.licenses.empty();
        const auto add = [&](const model::Job& job, Instant now) {
            if (is_wanted(job, options_, now)) table.add(lines, job, view_, options_.split);
        };
        // Jobs that may be over are looked for in the history, too.
        const bool ever = query_.all_states && !query_.filter.jobs.empty();
        const Status asked = ever || options_.matches_nothing
                                 ? ask([&](const client::JobsChunk& chunk) {
                                       for (const model::Job& job : chunk.jobs) add(job, chunk.now);
                                   })
                                 : client::list_jobs(session_.connection, query_,
                                                     [&](const model::Job& job, Instant now) {
                                                         view_.now = now;
                                                         add(job, now);
                                                     });
        SY_CHECK(asked);
        print_table(table.header(), lines);
        return {};
    }

    Status print_steps(const view::StepTable& table) {
        view::SortedLines lines;
        std::map<JobId, model::Job> jobs;  // Steps may come in a later chunk than their job.
        const Status asked = ask([&](const client::JobsChunk& chunk) {
            for (const model::Job& job : chunk.jobs) jobs.insert_or_assign(job.id, job);
            for (const model::Step& step : chunk.steps) {
                const auto job = jobs.find(step.key.job);
                if (job == jobs.end() || step.end || !is_asked_for(step, job->second)) continue;
                table.add(lines, {step, job->second, view_});
            }
        });
        SY_CHECK(asked);
        print_table(table.header(), lines);
        return {};
    }

    Status write_document() {
        SY_TRY(const client::NodesAnswer answer, client::fetch_nodes(session_.connection));
        view::DocumentContext context{answer.now, view_.cluster, {}, {}};
        for (const model::Node& node : answer.nodes) context.nodes.emplace(node.config.name, &node);
        view::Document document = open_document(options_.document);
        document.begin_list(options_.steps ? "steps" : "jobs");
        std::map<JobId, model::Job> jobs;
        const Status asked = ask([&](const client::JobsChunk& chunk) {
            context.now = chunk.now;
            context.steps.clear();  // A job's steps come with it.
            for (const model::Step& step : chunk.steps) context.steps.emplace(step.key.job, &step);
            for (const model::Job& job : chunk.jobs) {
                if (options_.steps) {
                    jobs.insert_or_assign(job.id, job);
                } else if (is_wanted(job, options_, chunk.now)) {
                    view::write_job(document, job, context);
                }
            }
            for (const model::Step& step : chunk.steps) {
                const auto job = jobs.find(step.key.job);
                if (job == jobs.end() || step.end || !is_asked_for(step, job->second)) continue;
                view::write_running_step(document, step, job->second, {chunk.now, view_.cluster});
            }
        });
        SY_CHECK(asked);
        document.end();
        if (!options_.steps) write_last_backfill(document, session_.connection);
        document.number("last_update", view::moment_number(context.now));
        close_document(document, options_.document, view_.cluster);
        return {};
    }

  private:
    template <class Each>
    Status ask(Each each) {
        if (options_.matches_nothing) return {};
        return query_jobs_ever(session_.connection, query_, [&](const client::JobsChunk& chunk) {
            view_.now = chunk.now;
            each(chunk);
        });
    }

    bool is_asked_for(const model::Step& step, const model::Job& job) const {
        if (options_.step_ids.empty()) return true;
        for (const model::JobSelector& id : options_.step_ids) {
            const bool same_job =
                id.job == job.id ||
                (job.array && job.array->array_id == id.job &&
                 (!id.elements || id.all_elements ||
                  (job.array->element && id.elements->contains(*job.array->element))));
            if (same_job && (!id.step || *id.step == step.key.step)) return true;
        }
        return false;
    }

    void print_table(const std::string& header, view::SortedLines& lines) {
        if (options_.header && !options_.clusters.empty())
            print("CLUSTER: " + view_.cluster + "\n");
        if (options_.header && options_.date) print(date_line());
        if (options_.header) print(header);
        const std::size_t count = lines.count();
        std::string block;  // Many lines are written at once.
        lines.take([&](std::string_view piece) {
            if (block.size() + piece.size() > kBlockBytes) print(std::exchange(block, {}));
            if (piece.size() > kBlockBytes) return print(piece);
            block += piece;
        });
        print(block);
        std::fflush(stdout);
        if (options_.verbose > 0) say(kProgram, fmt::format("{} lines", count));
    }

    const SqueueOptions& options_;
    Session& session_;
    client::JobsQuery query_;
    view::ViewContext view_;
};

template <class Table>
void say_unknown_fields(const Table& table, std::string_view kind) {
    for (const std::string& field : table.unknown_fields()) {
        say_error(kProgram, fmt::format("Invalid {} format specification: {}", kind, field));
    }
}

// Whether all of --nodelist exist.
bool knows_nodes(const SqueueOptions& options, Session& session) {
    const auto answer = client::fetch_nodes(session.connection);
    if (!answer) {
        say_call_failed(kProgram, "slurm_load_node error", answer.error());
        return false;
    }
    std::set<std::string_view> known;
    for (const model::Node& node : answer->nodes) known.insert(node.config.name);
    for (const std::string& name : options.query.filter.nodes) {
        if (known.contains(name)) continue;
        say_error(kProgram, "Invalid node name " + name);
        return false;
    }
    return true;
}

int list_once(const SqueueOptions& options, const view::JobTable& jobs,
              const view::StepTable& steps) {
    const std::string_view call =
        options.steps ? "slurm_get_job_steps error" : "slurm_load_jobs error";
    auto session = open_session(std::string(kProgram));
    if (!session) {
        say_call_failed(kProgram, call, session.error());
        return 1;
    }
    if (!is_our_cluster(kProgram, options.clusters, session->config)) return 1;
    if (!options.query.filter.nodes.empty() && !knows_nodes(options, *session)) return 1;
    Listing listing(options, *session);
    const Status printed = options.document.kind ? listing.write_document()
                           : options.steps       ? listing.print_steps(steps)
                                                 : listing.print_jobs(jobs);
    if (!printed) say_call_failed(kProgram, call, printed.error());
    return printed ? 0 : 1;
}

int run(const SqueueOptions& options) {
    const auto jobs = view::JobTable::make(options.steps ? view::TableRequest{} : options.table);
    const auto steps = view::StepTable::make(options.steps ? options.table : view::TableRequest{});
    if (!jobs || !steps) {
        say_error(kProgram, (jobs ? steps.error() : jobs.error()).message);
        return 1;
    }
    if (options.table.sort.contains(view::kLetterWithoutEffect)) {
        say(kProgram, "Invalid sort specification: b");
    }
    say_unknown_fields(*jobs, "job");
    say_unknown_fields(*steps, "job step");

    for (;;) {
        const int code = list_once(options, *jobs, *steps);
        if (options.iterate_seconds == 0) return code;
        // A controller that is away now may be back the next time.
        print("\n");
        std::fflush(stdout);
        sleep(static_cast<unsigned>(options.iterate_seconds));
    }
}

}  // namespace

int squeue_main(int argc, char** argv) {
    const SqueueParsed parsed = parse_squeue(argc, argv);
    return parsed.exit_code ? *parsed.exit_code : run(parsed.options);
}

}  // namespace switchyard::cli
