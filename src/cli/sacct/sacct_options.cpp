#include "cli/sacct/sacct_options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <limits>

#include "base/text.hpp"
#include "cli/job_ids.hpp"
#include "cli/message.hpp"
#include "cli/option_table.hpp"
#include "model/time_format.hpp"
#include "os/users.hpp"

namespace switchyard::cli {
namespace {

using Text = std::optional<std::string>;

struct Typed {
    std::vector<std::string> jobs;  // Each use of -j.
    Text accounts, users, groups, names, nodes, partitions, qos, wckeys, states, reasons, flags,
        constraints, start, end, node_range, cpu_range, limit_min, limit_max, format, units,
        time_format, elements_max;
    std::string clusters, delimiter;
    bool all_users = false, brief = false, long_list = false, duplicates = false;
    bool allocations = false, truncate = false, header = true, convert = true;
    bool parsable = false, parsable2 = false, scripts = false, environments = false;
    bool each_element = false, expand = false;
    std::optional<bool> whole_hetjob;
    DocumentWish document;
    int verbose = 0;
};

Taken take_jobs(Typed& typed, const OptionUse& use) {
    typed.jobs.emplace_back(use.value);
    return std::nullopt;
}
Taken no_completion(Typed&, const OptionUse& use) {
    return refuse(use.program,
                  "there is no job completion log: every job is kept in the controller's own "
                  "store, which sacct without this option shows");
}
Taken no_associations(Typed&, const OptionUse& use) {
    return refuse(use.program, "there are no associations on this cluster");
}
Taken take_whole_hetjob(Typed& typed, const OptionUse& use) {
    if (!use.has_value || use.value == "yes") {
        typed.whole_hetjob = true;
    } else if (use.value == "no") {
        typed.whole_hetjob = false;
    } else {
        return refuse(use.program, fmt::format("Invalid value for --whole-hetjob: {}", use.value));
    }
    return std::nullopt;
}
std::string help_format() { return view::helpformat(view::names_of(view::sacct_fields())); }
std::string help_states() {
    return view::helpformat({"PENDING", "RUNNING", "SUSPENDED", "COMPLETED", "CANCELLED", "FAILED",
                             "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "DEADLINE",
                             "OUT_OF_MEMORY"});
}
// Those that a job here can have.
std::string help_reasons() {
    std::vector<std::string_view> names;
    for (int i = 0; i <= static_cast<int>(model::kReasonLast); ++i) {
        const std::string_view name = model::reason_text(static_cast<model::Reason>(i));
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    return view::helpformat(names, {.count = 2, .width = 39});
}

constexpr Argument kValue = Argument::Required;
constexpr Argument kMaybe = Argument::Optional;
constexpr Argument kNone = Argument::None;

const Option<Typed> kOptions[] = {
    {{"accounts", 'A', kValue, "NAMES", "only jobs of these accounts"}, keep<&Typed::accounts>},
    {{"allclusters", 'L', kNone, "", "jobs of all clusters, of which there is one"},
     nothing<Typed>},
    {{"allocations", 'X', kNone, "", "no lines for steps"}, flag<&Typed::allocations>},
    {{"allusers", 'a', kNone, "", "jobs of all users (what root sees anyway)"},
     flag<&Typed::all_users>},
    {{"array", 0, kNone, "", "one line for each element of an array that waits"},
     flag<&Typed::each_element>},
    {{"associations", 'x', kValue, "IDS"}, no_associations},
    {{"batch-script", 'B', kNone, "", "the batch scripts of the jobs given with -j"},
     flag<&Typed::scripts>},
    {{"brief", 'b', kNone, "", "JobID, State and ExitCode"}, flag<&Typed::brief>},
    {{"clusters", 'M', kValue, "NAME", "the cluster to ask", "SLURM_CLUSTERS"},
     keep<&Typed::clusters>},
    {{.name = "cluster", .argument = kValue, .same_as = "clusters"}},
    {{"completion", 'c', kNone}, no_completion},
    {{"constraints", 'C', kValue, "WORDS", "only jobs that asked for all of these features"},
     keep<&Typed::constraints>},
    {{"delimiter", 0, kValue, "TEXT", "what stands between fields with -p and -P"},
     keep<&Typed::delimiter>},
    {{"duplicates", 'D', kNone, "", "runs of a job before it was requeued, too"},
     flag<&Typed::duplicates>},
    {{"endtime", 'E', kValue, "TIME", "only what was until then"}, keep<&Typed::end>},
    {{"env-vars", 0, kNone, "", "the environments of the jobs given with -j"},
     flag<&Typed::environments>},
    {{"expand-patterns", 0, kNone, "", "names of output files with their patterns filled in"},
     flag<&Typed::expand>},
    {{.name = "federation", .variables = "SACCT_FEDERATION"}, nothing<Typed>},
    {{"file", 'f', kValue, "FILE"}, no_completion},
    {{"flags", 'F', kValue, "WORDS", "only jobs started by: SchedMain, SchedBackfill, SchedSubmit"},
     keep<&Typed::flags>},
    {{"format", 'o', kValue, "FIELDS", "columns: name[%[-]width],... (see --helpformat)",
      "SACCT_FORMAT", "brief long"},
     keep<&Typed::format>},
    {{"group", 'g', kValue, "NAMES", "only jobs of these groups (names or numbers)"},
     keep<&Typed::groups>},
    {{.name = "gid", .argument = kValue, .same_as = "group"}},
    {{.name = "helpformat", .letter = 'e', .help = "the fields -o knows", .answer = help_format}},
    {{.name = "helpreason", .help = "the reasons -R knows", .answer = help_reasons}},
    {{.name = "helpstate", .help = "the states -s knows", .answer = help_states}},
    {{"jobs", 'j', kValue, "IDS", "only these jobs, elements (12_3) or steps (12.0, 12.batch)"},
     take_jobs},
    json_option<&Typed::document>(),
    json_layout_option<&Typed::document>(),
    yaml_layout_option<&Typed::document>(),
    {{.name = "local", .variables = "SACCT_LOCAL"}, nothing<Typed>},
    {{"long", 'l', kNone, "", "many columns"}, flag<&Typed::long_list>},
    {{"name", 0, kValue, "NAMES", "only jobs with these names"}, keep<&Typed::names>},
    {{"ncpus", 'I', kValue, "MIN[-MAX]", "only jobs that had so many CPUs"},
     keep<&Typed::cpu_range>},
    {{"nnodes", 'i', kValue, "MIN[-MAX]", "only jobs that had so many nodes"},
     keep<&Typed::node_range>},
    {{"noconvert", 0, kNone, "", "amounts in their own unit"}, flag<&Typed::convert, false>},
    {{"nodelist", 'N', kValue, "NODES", "only jobs that were on one of these"},
     keep<&Typed::nodes>},
    {{"noheader", 'n', kNone, "", "no headings"}, flag<&Typed::header, false>},
    {{"parsable", 'p', kNone, "", "bars between the fields and at the end"},
     flag<&Typed::parsable>},
    {{"parsable2", 'P', kNone, "", "bars between the fields"}, flag<&Typed::parsable2>},
    {{"partition", 'r', kValue, "NAMES", "only jobs in these partitions"},
     keep<&Typed::partitions>},
    {{"qos", 'q', kValue, "NAMES", "only jobs with these qualities of service"}, keep<&Typed::qos>},
    {{"reason", 'R', kValue, "REASONS", "only jobs that waited or ended for these reasons"},
     keep<&Typed::reasons>},
    {{"starttime", 'S', kValue, "TIME", "only what was since then"}, keep<&Typed::start>},
    {{"state", 's', kValue, "STATES", "only jobs that were in these states in that time"},
     keep<&Typed::states>},
    {{"timelimit-min", 'k', kValue, "TIME", "only jobs with this time limit, or from this on"},
     keep<&Typed::limit_min>},
    {{"timelimit-max", 'K', kValue, "TIME", "up to this time limit"}, keep<&Typed::limit_max>},
    {{"truncate", 'T', kNone, "", "show times outside -S and -E as these"}, flag<&Typed::truncate>},
    {{"units", 0, kValue, "KMGTP", "amounts in this unit"}, keep<&Typed::units>},
    {{.name = "use-local-uid"}, nothing<Typed>},
    {{"user", 'u', kValue, "NAMES", "only jobs of these users (names or numbers)"},
     keep<&Typed::users>},
    {{.name = "uid", .argument = kValue, .same_as = "user"}},
    {{"verbose", 'v', kNone, "", "say which time is looked at"}, count<&Typed::verbose>},
    {{"wckeys", 'W', kValue, "NAMES", "only jobs with these wckeys"}, keep<&Typed::wckeys>},
    {{"whole-hetjob", 0, kMaybe, "yes|no",
      "all components of a heterogeneous job, or only those named"},
     take_whole_hetjob},
    yaml_option<&Typed::document>(),
    time_format_variable<&Typed::time_format>(),
    elements_max_variable<&Typed::elements_max>(),
};

constexpr CommandText kText{.program = "sacct",
                            .operands = {},
                            .purpose = "What became of jobs and their steps, and what they used.",
                            .footer = {},
                            .help_letter = 'h',
                            .takes_words = false};

Instant midnight(Instant now) {
    const std::time_t seconds = unix_seconds(now);
    std::tm parts{};
    ::localtime_r(&seconds, &parts);
    parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
    parts.tm_isdst = -1;
    return Instant{Seconds{std::mktime(&parts)}};
}

std::optional<std::uint32_t> find_gid(const std::string& name) {
    if (const auto found = os::find_group(name)) return *found;
    const auto number = parse_uint(name);
    if (!number || *number >= std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
    return static_cast<std::uint32_t>(*number);
}

std::vector<std::string> list(const Text& text) {
    return text ? split_list(*text) : std::vector<std::string>();
}

std::optional<Range> parse_range(const std::string& text) {
    const std::size_t dash = text.find('-');
    const auto least = parse_uint(text.substr(0, dash));
    if (!least) return std::nullopt;
    if (dash == std::string::npos) return Range{*least, *least};
    const auto most = parse_uint(text.substr(dash + 1));
    if (!most || *most < *least) return std::nullopt;
    return Range{*least, *most};
}

// Works out what was typed, one subject after the other; the first that is wrong ends it.
class Reader {
  public:
    Reader(const Typed& typed, Instant now) : typed_(typed), now_(now) {}

    SacctParsed read() {
        read_style();
        SacctParsed parsed;
        const bool good = read_jobs() && read_people() && read_states() && read_window() &&
                          read_ranges() && read_units();
        if (!good) parsed.exit_code = 1;
        parsed.options = std::move(out_);
        return parsed;
    }

  private:
    bool fatal(const std::string& text) {
        say("sacct", "fatal: " + text);
        return false;
    }
    bool wrong(const std::string& text) {
        say_error("sacct", text);
        return false;
    }

    void read_style() {
        if (typed_.brief) out_.format = view::kSacctBrief;
        if (typed_.long_list) out_.format = view::kSacctLong;
        if (typed_.format) out_.format = *typed_.format;
        out_.style.header = typed_.header;
        out_.style.parsable = typed_.parsable || typed_.parsable2;
        out_.style.ending = typed_.parsable && !typed_.parsable2;
        if (!typed_.delimiter.empty()) out_.style.delimiter = typed_.delimiter;
        out_.view.expand_patterns = typed_.expand;
        out_.view.time_format = typed_.time_format.value_or("");
        if (typed_.elements_max) {
            if (const auto length = parse_uint(*typed_.elements_max))
                out_.view.elements_max = *length;
        }
        out_.clusters = typed_.clusters;
        out_.verbose = typed_.verbose;
        out_.allocations = typed_.allocations;
        out_.each_element = typed_.each_element;
        out_.whole_hetjob = typed_.whole_hetjob;
        out_.scripts = typed_.scripts;
        out_.environments = typed_.environments;
        out_.document = typed_.document;
        client::JobsQuery& query = out_.query;
        query.history = true;
        query.all_states = true;
        query.with_steps = true;
        query.hidden_partitions = true;
        query.past_runs = typed_.duplicates;
        query.filter.accounts = list(typed_.accounts);
        query.filter.names = list(typed_.names);
        query.filter.partitions = list(typed_.partitions);
        query.filter.qos = list(typed_.qos);
        query.filter.wckeys = list(typed_.wckeys);
        out_.constraints = list(typed_.constraints);
        out_.flags = list(typed_.flags);
        out_.reasons = list(typed_.reasons);
    }

    bool read_jobs() {
        for (const std::string& text : typed_.jobs) {
            auto ids = parse_job_list(text);
            if (!ids) {
                return fatal(fmt::format("Bad job/step specified: {}", ids.error().message));
            }
            std::ranges::move(*ids, std::back_inserter(out_.query.filter.jobs));
        }
        if (typed_.nodes) {
            auto names = parse_node_list(*typed_.nodes);
            if (!names) return wrong(names.error().message);
            out_.query.filter.nodes = *std::move(names);
        }
        if ((out_.scripts || out_.environments) && out_.query.filter.jobs.empty()) {
            return wrong(out_.scripts ? "Invalid usage: -B/--batch-script needs -j/--jobs"
                                      : "Invalid usage: --env-vars needs -j/--jobs");
        }
        return true;
    }

    bool read_people() {
        for (const std::string& name : list(typed_.groups)) {
            const auto gid = find_gid(name);
            if (!gid) return wrong(fmt::format("Invalid group id: {}", name));
            out_.gids.push_back(*gid);
        }
        auto& uids = out_.query.filter.uids;
        for (const std::string& name : list(typed_.users)) {
            const auto uid = find_uid(name);
            if (!uid) return wrong(fmt::format("Invalid user id: {}", name));
            uids.push_back(*uid);
        }
        const bool others = typed_.all_users || ::getuid() == 0 ||
                            !out_.query.filter.jobs.empty() || !out_.query.filter.nodes.empty();
        if (typed_.all_users) uids.clear();
        if (uids.empty() && !others) uids.push_back(::getuid());
        return true;
    }

    bool read_states() {
        for (const std::string& word : list(typed_.states)) {
            const auto state = model::parse_job_state(word);
            if (!state) return fatal(fmt::format("unrecognized job state value '{}'", word));
            out_.states.push_back(*state);
        }
        return true;
    }

    // See "DEFAULT TIME WINDOW" in Slurm's manual.
    bool read_window() {
        const bool by_id = !out_.query.filter.jobs.empty();
        const bool by_state = !out_.states.empty();
        out_.from = by_id ? Instant{} : by_state ? now_ : midnight(now_);
        out_.to = now_;
        out_.window_given = typed_.start || typed_.end;
        if (typed_.start) {
            const auto from = parse_past(*typed_.start, now_);
            if (!from) return false;
            out_.from = *from;
            if (by_state) out_.to = *from;
        }
        if (typed_.end) {
            const auto to = parse_past(*typed_.end, now_);
            if (!to) return false;
            out_.to = *to;
        }
        if (out_.to < out_.from) {
            return wrong(fmt::format("Start time ({}) requested is after End time ({}).",
                                     model::format_instant(out_.from),
                                     model::format_instant(out_.to)));
        }
        if (typed_.truncate) {
            out_.view.earliest = out_.from;
            out_.view.latest = out_.to;
        }
        if (out_.from > Instant{}) out_.query.history_from = out_.from;
        out_.query.history_to = out_.to;
        const bool ended = std::ranges::all_of(
            out_.states, [](model::JobState state) { return model::is_finished(state); });
        if (by_state && ended) out_.query.filter.states = out_.states;
        return true;
    }

    bool read_ranges() {
        const auto read = [&](const Text& text, std::string_view name, std::optional<Range>& to) {
            if (!text) return true;
            to = parse_range(*text);
            return to ? true : wrong(fmt::format("Invalid {} specification: {}", name, *text));
        };
        if (!read(typed_.node_range, "node count", out_.nodes)) return false;
        if (!read(typed_.cpu_range, "cpu count", out_.cpus)) return false;
        if (!typed_.limit_min) return true;
        const auto minutes = [&](const std::string& text) -> std::optional<std::uint64_t> {
            const auto limit = model::parse_time_limit(text);
            if (!limit) return std::nullopt;
            if (limit->unlimited) return UINT64_MAX;
            return static_cast<std::uint64_t>(limit->seconds.count() / 60);
        };
        const auto least = minutes(*typed_.limit_min);
        const auto most = typed_.limit_max ? minutes(*typed_.limit_max) : least;
        if (!least || !most) return wrong("Invalid time limit specification");
        out_.minutes = Range{*least, *most};
        return true;
    }

    bool read_units() {
        out_.view.units.convert = typed_.convert;
        if (!typed_.units) return true;
        const std::string& unit = *typed_.units;
        const char letter = unit.empty() ? 0 : static_cast<char>(unit[0] & ~0x20);
        if (unit.size() != 1 || std::string_view("KMGTP").find(letter) == std::string_view::npos) {
            return wrong(
                fmt::format("Invalid unit type ({}). Try --help for more information", unit));
        }
        out_.view.units.fixed = letter;
        return true;
    }

    const Typed& typed_;
    Instant now_;
    SacctOptions out_;
};

}  // namespace

std::optional<Instant> parse_past(std::string_view text, Instant now) {
    const bool relative = text.starts_with("now");
    if (text == "today" || text == "midnight") return midnight(now);
    // Seen from midnight no time of today has passed.
    const Instant from = relative ? now : midnight(now) - Millis{1};
    auto found = model::parse_instant(text, from);
    if (!found) {
        fmt::print(stderr, "Invalid time specification (pos=0): {}\n", text);
        return std::nullopt;
    }
    constexpr Seconds kDay{24 * 3600}, kYear{365 * 24 * 3600};
    const bool has_year = text.size() >= 8 && text.find_first_not_of("0123456789") == 4;
    if (!relative && !has_year && *found > now + kDay) {
        // A day without its year: the last one, not the next.
        const auto earlier = model::parse_instant(text, from - kYear);
        if (earlier && *earlier <= now) found = earlier;
    }
    return *found;
}

SacctParsed parse_sacct(int argc, char** argv, Instant now) {
    Typed typed;
    typed.document.command.assign(argv, argv + argc);
    const ParsedLine line = parse_options(kText, kOptions, typed, argc, argv);
    if (line.exit_code) return {.options = {}, .exit_code = line.exit_code};
    return Reader(typed, now).read();
}

}  // namespace switchyard::cli
