// sstat.cpp: what the steps that run now use. The nodes are asked, and look at that moment.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/job_ids.hpp"
#include "cli/live_usage.hpp"
#include "cli/message.hpp"
#include "cli/option_table.hpp"
#include "cli/output.hpp"
#include "cli/session.hpp"
#include "view/accounting/sstat_fields.hpp"
#include "view/step/step_columns.hpp"

namespace switchyard::cli {
namespace {

constexpr std::string_view kProgram = "sstat";

struct Typed {
    std::vector<std::string> jobs;
    std::optional<std::string> format;
    bool all_steps = false, pids = false, header = true, convert = true;
    bool parsable = false, parsable2 = false;
    int verbose = 0;
};

Taken take_jobs(Typed& typed, const OptionUse& use) {
    typed.jobs.emplace_back(use.value);
    return std::nullopt;
}
std::string help_format() { return view::helpformat(view::names_of(view::sstat_fields())); }

const Option<Typed> kOptions[] = {
    {{"allsteps", 'a', Argument::None, "", "all steps of the jobs, not only one of srun's"},
     flag<&Typed::all_steps>},
    {{"format", 'o', Argument::Required, "FIELDS",
      "columns: name[%[-]width],... (see --helpformat)"},
     keep<&Typed::format>},
    {{.name = "fields", .argument = Argument::Required, .same_as = "format"}},
    {{.name = "helpformat", .letter = 'e', .help = "the fields -o knows", .answer = help_format}},
    {{"jobs", 'j', Argument::Required, "IDS", "these jobs or steps (12, 12.0, 12.batch)"},
     take_jobs},
    {{"noconvert", 0, Argument::None, "", "amounts in their own unit"},
     flag<&Typed::convert, false>},
    {{"noheader", 'n', Argument::None, "", "no headings"}, flag<&Typed::header, false>},
    {{"parsable", 'p', Argument::None, "", "bars between the fields and at the end"},
     flag<&Typed::parsable>},
    {{"parsable2", 'P', Argument::None, "", "bars between the fields"}, flag<&Typed::parsable2>},
    {{"pidformat", 'i', Argument::None, "", "the processes of each step"}, flag<&Typed::pids>},
    {{"verbose", 'v', Argument::None, "", "say more"}, count<&Typed::verbose>},
};

constexpr CommandText kText{.program = kProgram,
                            .operands = "[job[.step]...]",
                            .purpose = "What the running steps of jobs use.",
                            .footer = {},
                            .help_letter = 'h',
                            .takes_words = true};

// Of one job, or of the elements of an array: their records, their steps, and what the nodes said.
struct JobStat {
    client::JobsChunk found;
    std::map<JobId, LiveSteps> live;

    static Result<JobStat> ask(Session& session, const model::JobSelector& selector, bool pids) {
        JobStat stat;
        client::JobsQuery query;
        query.filter.jobs = {selector};
        query.filter.jobs[0].step.reset();
        query.with_steps = true;
        query.all_states = true;
        query.one_job = true;
        SY_TRY(stat.found, client::fetch_jobs(session.connection, query));
        for (const model::Job& job : stat.found.jobs)
            SY_CHECK(ask_nodes(session.connection, job, pids, stat.live[job.id]));
        return stat;
    }

    // The steps that run, the batch step first.
    std::vector<const model::Step*> running() const {
        std::vector<const model::Step*> steps;
        for (const model::Step& step : found.steps) {
            if (model::state_of(step) == model::JobState::Running) steps.push_back(&step);
        }
        std::ranges::sort(steps, {}, [](const model::Step* step) {
            return std::pair(step->key.job, static_cast<std::int32_t>(step->key.step.value));
        });
        return steps;
    }

    const model::Job& job_of(const model::Step& step) const {
        return *std::ranges::find(found.jobs, step.key.job, &model::Job::id);
    }
};

class Stat {
  public:
    Stat(const Typed& typed, Session& session, const view::ReportTable<view::StatRow>& table)
        : typed_(typed), session_(session), table_(table) {
        units_.convert = typed.convert;
    }

    // False when there was nothing to say.
    bool print_job(const model::JobSelector& selector) {
        auto stat = JobStat::ask(session_, selector, typed_.pids);
        if (!stat) {
            say_error(kProgram, fmt::format("couldn't get steps for JobId={}", selector.job.value));
            return false;
        }
        bool any = false;
        for (const model::Step* step : stat->running()) {
            const bool named = selector.step && *selector.step == step->key.step;
            const bool special = step->key.step >= kInteractiveStep;
            // Without -a: the step that is named, else the first of srun's.
            const bool first_of_srun = !selector.step && !special && !any;
            if (!named && !first_of_srun && !(typed_.all_steps && !selector.step)) continue;
            any = true;
            const view::StatRow row{
                .job = stat->job_of(*step),
                .step = *step,
                .usage = stat->live[step->key.job].usage[step->key],
                .units = units_,
                .cluster = session_.config.cluster_name,
                .nodes = view::step_node_list(*step),
                .pids = join(stat->live[step->key.job].pids[step->key.step], ",")};
            print(table_.line(row));
        }
        if (!any) {
            say_error(kProgram, fmt::format("no steps running for job {}", selector.job.value));
        }
        return any;
    }

  private:
    const Typed& typed_;
    Session& session_;
    const view::ReportTable<view::StatRow>& table_;
    view::Units units_;
};

int run(const Typed& typed) {
    std::vector<model::JobSelector> selectors;
    for (const std::string& text : typed.jobs) {
        auto ids = parse_job_list(text);
        if (!ids) {
            say(kProgram, fmt::format("fatal: Bad job/step specified: {}", ids.error().message));
            return 1;
        }
        std::ranges::move(*ids, std::back_inserter(selectors));
    }
    if (selectors.empty()) return refuse(kProgram, "You didn't give me any jobs to stat.");
    const view::ReportStyle style{.header = typed.header,
                                  .parsable = typed.parsable || typed.parsable2,
                                  .ending = typed.parsable && !typed.parsable2,
                                  .delimiter = "|"};
    const std::string format =
        typed.format.value_or(std::string(typed.pids ? view::kStatPidFormat : view::kStatFormat));
    const auto table = view::ReportTable<view::StatRow>::make(view::sstat_fields(), format, style);
    if (!table) {
        return refuse(kProgram,
                      fmt::format("Invalid field requested: \"{}\"", table.error().message));
    }
    auto session = open_session(std::string(kProgram));
    if (!session) {
        say_call_failed(kProgram, "slurm_load_jobs error", session.error());
        return 1;
    }
    print(table->header());
    Stat stat(typed, *session, *table);
    bool good = true;
    for (const model::JobSelector& selector : selectors) good &= stat.print_job(selector);
    std::fflush(stdout);
    return good ? 0 : 1;
}

int command_main(int argc, char** argv) {
    Typed typed;
    const ParsedLine line = parse_options(kText, kOptions, typed, argc, argv);
    if (line.exit_code) return *line.exit_code;
    for (const std::string& word : line.words) typed.jobs.push_back(word);
    return run(typed);
}

}  // namespace

int sstat_main(int argc, char** argv) { return command_main(argc, argv); }

}  // namespace switchyard::cli
