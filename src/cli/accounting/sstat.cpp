// sstat.cpp: what the steps that run now use. The nodes are asked, and look at that moment.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include "base/text.hpp"
#include "cli/accounting/live_usage.hpp"
#include "cli/accounting/print_fields.hpp"
#include "cli/accounting/sacct_row.hpp"
#include "cli/accounting/tres_usage_fields.hpp"
#include "cli/accounting/usage_text.hpp"
#include "cli/commands.hpp"
#include "cli/format/step_columns.hpp"
#include "cli/job_ids.hpp"
#include "cli/message.hpp"
#include "cli/option_table.hpp"
#include "cli/output.hpp"
#include "cli/session.hpp"
#include "model/sluid.hpp"

namespace switchyard::cli::accounting {
namespace {

constexpr std::string_view kProgram = "sstat";

struct StatRow {
    const model::Job& job;
    const model::Step& step;
    const model::StepUsage& usage;
    const Units& units;
    const std::string& cluster;
    std::string nodes, pids;  // Of --pidformat.
};
using Row = StatRow;

template <const char* Name, bool Out, Figure Kind>
std::string used(const Row& row) {
    return figure_text(row.usage, Name, Out, Kind, row.units);
}
template <const char* Name, bool Out, Figure Kind, Where Place>
std::string used_at(const Row& row) {
    return place_text(row.usage, Name, Out, Kind, Place);
}
std::string frequency(const Row& row) { return row.step.key.step == kBatchStep ? "0" : "Unknown"; }

std::uint64_t joules(const Row& row) {
    const model::UsageMeasure* energy = model::find_measure(row.usage, "energy");
    return energy == nullptr ? 0 : energy->total;
}

constexpr char kCpu[] = "cpu", kMem[] = "mem", kVmem[] = "vmem", kPages[] = "pages",
               kDisk[] = "fs/disk";
constexpr Figure kAve = Figure::Average, kMax = Figure::Max, kMin = Figure::Min;
constexpr Where kNode = Where::Node, kTask = Where::Task;
constexpr Wide kMark = Wide::Mark, kWhole = Wide::Whole;

const auto kOwnFields = std::to_array<Field<Row>>({
    {"AllocTRES", 10, kMark,
     [](const Row& r) {
         // As Slurm has it: that of the batch step is the job's.
         if (r.step.key.step == kBatchStep) return std::string();
         return sorted_tres(step_tres(r.step), false, r.units);
     }},
    {"AveCPU", 10, kMark, used<kCpu, false, kAve>},
    {"AveCPUFreq", 10, kMark, [](const Row& r) { return frequency_text(r.usage, r.units); }},
    {"AveDiskRead", 12, kMark, used<kDisk, false, kAve>},
    {"AveDiskWrite", 12, kMark, used<kDisk, true, kAve>},
    {"AvePages", 10, kMark, used<kPages, false, kAve>},
    {"AveRSS", 10, kMark, used<kMem, false, kAve>},
    {"AveVMSize", 10, kMark, used<kVmem, false, kAve>},
    {"ConsumedEnergy", 14, kMark, [](const Row& r) { return thousands_text(joules(r), r.units); }},
    {"ConsumedEnergyRaw", 17, kMark, [](const Row& r) { return fmt::to_string(joules(r)); }},
    {"JobID", -12, kMark, [](const Row& r) { return format::raw_step_id(r.step); }},
    {"MaxDiskRead", 12, kMark, used<kDisk, false, kMax>},
    {"MaxDiskReadNode", 15, kMark, used_at<kDisk, false, kMax, kNode>},
    {"MaxDiskReadTask", 15, kWhole, used_at<kDisk, false, kMax, kTask>},
    {"MaxDiskWrite", 12, kMark, used<kDisk, true, kMax>},
    {"MaxDiskWriteNode", 16, kMark, used_at<kDisk, true, kMax, kNode>},
    {"MaxDiskWriteTask", 16, kWhole, used_at<kDisk, true, kMax, kTask>},
    {"MaxPages", 8, kMark, used<kPages, false, kMax>},
    {"MaxPagesNode", 12, kMark, used_at<kPages, false, kMax, kNode>},
    {"MaxPagesTask", 14, kWhole, used_at<kPages, false, kMax, kTask>},
    {"MaxRSS", 10, kMark, used<kMem, false, kMax>},
    {"MaxRSSNode", 10, kMark, used_at<kMem, false, kMax, kNode>},
    {"MaxRSSTask", 10, kWhole, used_at<kMem, false, kMax, kTask>},
    {"MaxVMSize", 10, kMark, used<kVmem, false, kMax>},
    {"MaxVMSizeNode", 14, kMark, used_at<kVmem, false, kMax, kNode>},
    {"MaxVMSizeTask", 14, kWhole, used_at<kVmem, false, kMax, kTask>},
    {"MinCPU", 10, kMark, used<kCpu, false, kMin>},
    {"MinCPUNode", 10, kMark, used_at<kCpu, false, kMin, kNode>},
    {"MinCPUTask", 10, kWhole, used_at<kCpu, false, kMin, kTask>},
    {"Nodelist", 20, kMark, [](const Row& r) { return r.nodes; }},
    {"NTasks", 8, kWhole, [](const Row& r) { return fmt::to_string(r.step.layout.task_count()); }},
    {"Pids", 20, kMark, [](const Row& r) { return r.pids; }},
    {"ReqCPUFreq", 10, kMark, frequency},
    {"ReqCPUFreqMin", 13, kMark, frequency},
    {"ReqCPUFreqMax", 13, kMark, frequency},
    {"ReqCPUFreqGov", 13, kMark, frequency},
    {"SLUID", 14, kMark, [](const Row& r) { return model::sluid_of(r.job, r.cluster); }},
});

const model::StepUsage* usage_of(const Row& row) { return &row.usage; }
const Units& units_of(const Row& row) { return row.units; }

std::span<const Field<Row>> all_fields() {
    static const auto fields =
        joined<Row>(kOwnFields, TresUsageFields<Row, usage_of, units_of>::kAll);
    return fields;
}

constexpr std::string_view kFormat =
    "jobid,alloctres,maxvmsize,maxvmsizenode,maxvmsizetask,avevmsize,maxrss,maxrssnode,maxrsstask,"
    "averss,maxpages,maxpagesnode,maxpagestask,avepages,mincpu,mincpunode,mincputask,avecpu,ntasks,"
    "avecpufreq,reqcpufreqmin,reqcpufreqmax,reqcpufreqgov,consumedenergy,maxdiskread,"
    "maxdiskreadnode,maxdiskreadtask,avediskread,maxdiskwrite,maxdiskwritenode,maxdiskwritetask,"
    "avediskwrite,tresusageinave,tresusageinmax,tresusageinmaxnode,tresusageinmaxtask,"
    "tresusageinmin,tresusageinminnode,tresusageinmintask,tresusageintot,tresusageoutave,"
    "tresusageoutmax,tresusageoutmaxnode,tresusageoutmaxtask,tresusageoutmin,tresusageoutminnode,"
    "tresusageoutmintask,tresusageouttot";
constexpr std::string_view kPidFormat = "jobid,nodelist,pids";

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
std::string help_format() { return helpformat(names_of(all_fields())); }

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
    Stat(const Typed& typed, Session& session, const Table<Row>& table)
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
            const Row row{.job = stat->job_of(*step),
                          .step = *step,
                          .usage = stat->live[step->key.job].usage[step->key],
                          .units = units_,
                          .cluster = session_.config.cluster_name,
                          .nodes = format::step_node_list(*step),
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
    const Table<Row>& table_;
    Units units_;
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
    const TableStyle style{.header = typed.header,
                           .parsable = typed.parsable || typed.parsable2,
                           .ending = typed.parsable && !typed.parsable2,
                           .delimiter = "|"};
    const std::string format =
        typed.format.value_or(std::string(typed.pids ? kPidFormat : kFormat));
    const auto table = Table<Row>::make(all_fields(), format, style);
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
}  // namespace switchyard::cli::accounting

namespace switchyard::cli {

int sstat_main(int argc, char** argv) { return accounting::command_main(argc, argv); }

}  // namespace switchyard::cli
