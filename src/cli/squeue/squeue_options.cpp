#include "cli/squeue/squeue_options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.hpp"
#include "cli/field_help.hpp"
#include "cli/job_ids.hpp"
#include "cli/message.hpp"
#include "cli/option_table.hpp"
#include "model/licenses.hpp"
#include "view/job/job_facts.hpp"

namespace switchyard::cli {
namespace {

constexpr std::string_view kProgram = "squeue";

// Texts as typed; empty optional: not given. Only when all is read does their meaning get worked
// out.
struct Typed {
    std::optional<std::string> accounts, users, names, partitions, qos, states, nodes, licenses,
        reservation, jobs, steps, sort, format, long_format, time_format, elements_max;
    std::string clusters;
    DocumentWish document;
    std::optional<Seconds> running_over, running_under;
    bool job_flag = false, step_flag = false, long_list = false, start = false, me = false,
         not_me = false;
    bool all_partitions = false, each_element = false, each_partition = false;
    bool header = true, convert_units = true, states_only = false, expand_patterns = false;
    int iterate_seconds = 0, verbose = 0;
};

Taken take_format(Typed& typed, const OptionUse& use) {
    if (typed.long_format && !use.variable.empty()) return std::nullopt;
    if (typed.long_format) {
        return refuse(use.program, "-o (--format) is incompatible with -O (--Format)");
    }
    typed.format = use.value;
    return std::nullopt;
}

Taken take_long_format(Typed& typed, const OptionUse& use) {
    if (typed.format && !use.variable.empty()) return std::nullopt;
    if (typed.format) {
        return refuse(use.program, "-O (--Format) is incompatible with -o (--format)");
    }
    typed.long_format = use.value;
    return std::nullopt;
}

template <bool Typed::* Asked, std::optional<std::string> Typed::* Ids>
Taken take_ids(Typed& typed, const OptionUse& use) {
    typed.*Asked = true;
    if (use.has_value) typed.*Ids = std::string(use.value);
    return std::nullopt;
}

template <std::optional<Seconds> Typed::* Member>
Taken take_duration(Typed& typed, const OptionUse& use) {
    const auto limit = model::parse_time_limit(use.value);
    if (!limit || limit->unlimited) {
        say(use.program, "fatal: Invalid time limit specification");
        return 1;
    }
    typed.*Member = limit->seconds;
    return std::nullopt;
}

constexpr std::string_view kOwnFormat = "format Format long steps start";

const Option<Typed> kOptions[] = {
    {{"account", 'A', Argument::Required, "NAMES", "only jobs of these accounts", "SQUEUE_ACCOUNT"},
     keep<&Typed::accounts>},
    {{.name = "accounts", .argument = Argument::Required, .same_as = "account"}},
    {{.letter = 'U', .argument = Argument::Required, .same_as = "account"}},
    {{"all", 'a', Argument::None, "", "jobs in hidden partitions too", "SQUEUE_ALL", "hide"},
     flag<&Typed::all_partitions>},
    {{"array", 'r', Argument::None, "", "one line for each element of a job array", "SQUEUE_ARRAY"},
     flag<&Typed::each_element>},
    {{"array-unique", 0, Argument::None, "", "the same for elements that wait",
      "SQUEUE_ARRAY_UNIQUE"},
     flag<&Typed::each_element>},
    {{"expand-patterns", 0, Argument::None, "", "names of files with their patterns filled in"},
     flag<&Typed::expand_patterns>},
    {{.name = "federation", .variables = "SQUEUE_FEDERATION"}, nothing<Typed>},
    {{"noheader", 'h', Argument::None, "", "no headings"}, flag<&Typed::header, false>},
    {{"hide", 0, Argument::None, "", "leave out hidden partitions (the default)"},
     flag<&Typed::all_partitions, false>},
    {{"iterate", 'i', Argument::Required, "SECONDS", "print again and again"},
     keep_seconds<&Typed::iterate_seconds>},
    {{"jobs", 'j', Argument::Optional, "IDS", "only these jobs, elements (12_3) or arrays"},
     take_ids<&Typed::job_flag, &Typed::jobs>},
    json_option<&Typed::document>(),
    json_layout_option<&Typed::document>(),
    yaml_layout_option<&Typed::document>(),
    {{"long", 'l', Argument::None, "", "more columns"}, flag<&Typed::long_list>},
    {{"licenses", 'L', Argument::Required, "NAMES", "only jobs that ask for these licenses",
      "SQUEUE_LICENSES"},
     keep<&Typed::licenses>},
    {{.name = "local", .variables = "SQUEUE_LOCAL"}, nothing<Typed>},
    {{"clusters", 'M', Argument::Required, "NAME", "the cluster to ask", "SLURM_CLUSTERS"},
     keep<&Typed::clusters>},
    {{.name = "cluster", .argument = Argument::Required, .same_as = "clusters"}},
    {{"me", 0, Argument::None, "", "only your own jobs"}, flag<&Typed::me>},
    {{"notme", 0, Argument::None, "", "only jobs of others"}, flag<&Typed::not_me>},
    {{"name", 'n', Argument::Required, "NAMES", "only jobs with these names", "SQUEUE_NAMES"},
     keep<&Typed::names>},
    {{"noconvert", 0, Argument::None, "", "memory in the unit it was given in"},
     flag<&Typed::convert_units, false>},
    {{"format", 'o', Argument::Required, "FORMAT", "columns by letter: %[[.]width]letter[text]",
      "SQUEUE_FORMAT", kOwnFormat},
     take_format},
    {{"Format", 'O', Argument::Required, "FIELDS", "columns by name: name[:[.][width][text]],...",
      "SQUEUE_FORMAT2", kOwnFormat},
     take_long_format},
    {{"only-job-state", 0, Argument::None, "",
      "ask only for ids, names, users, states and times, which is quick"},
     flag<&Typed::states_only>},
    {{"partition", 'p', Argument::Required, "NAMES", "only jobs in these partitions",
      "SQUEUE_PARTITION"},
     keep<&Typed::partitions>},
    {{.name = "partitions", .argument = Argument::Required, .same_as = "partition"}},
    {{"priority", 'P', Argument::None, "", "a waiting job once for each of its partitions",
      "SQUEUE_PRIORITY"},
     flag<&Typed::each_partition>},
    {{"qos", 'q', Argument::Required, "NAMES", "only jobs with these qualities of service",
      "SQUEUE_QOS"},
     keep<&Typed::qos>},
    {{"reservation", 'R', Argument::Required, "NAME", "only jobs in this reservation"},
     keep<&Typed::reservation>},
    {{"running-over", 0, Argument::Required, "TIME", "only jobs that have run for longer"},
     take_duration<&Typed::running_over>},
    {{"running-under", 0, Argument::Required, "TIME", "only jobs that have run for less"},
     take_duration<&Typed::running_under>},
    {{.name = "sibling", .variables = "SQUEUE_SIB SQUEUE_SIBLING"}, nothing<Typed>},
    {{.name = "sib", .same_as = "sibling"}},
    {{"steps", 's', Argument::Optional, "IDS", "list steps"},
     take_ids<&Typed::step_flag, &Typed::steps>},
    {{"sort", 'S', Argument::Required, "LETTERS", "order, such as P,t,-p (- for descending)",
      "SQUEUE_SORT"},
     keep<&Typed::sort>},
    {{"start", 0, Argument::None, "", "when waiting jobs are expected to start"},
     flag<&Typed::start>},
    {{"states", 't', Argument::Required, "STATES", "only jobs in these states, or 'all'",
      "SQUEUE_STATES"},
     keep<&Typed::states>},
    {{"user", 'u', Argument::Required, "NAMES", "only jobs of these users (names or numbers)",
      "SQUEUE_USERS", "me"},
     keep<&Typed::users>},
    {{.name = "users", .argument = Argument::Required, .same_as = "user"}},
    {{"verbose", 'v', Argument::None, "", "say how many lines there were"}, count<&Typed::verbose>},
    {{"nodelist", 'w', Argument::Required, "NODES", "only jobs on these nodes"},
     keep<&Typed::nodes>},
    {{.name = "node", .argument = Argument::Required, .same_as = "nodelist"}},
    {{.name = "nodes", .argument = Argument::Required, .same_as = "nodelist"}},
    yaml_option<&Typed::document>(),
    time_format_variable<&Typed::time_format>(),
    elements_max_variable<&Typed::elements_max>(),
    {{.name = "helpFormat", .help = "the names -O knows", .answer = squeue_help_names}},
    {{.name = "helpformat", .help = "the letters -o knows", .answer = squeue_help_letters}},
    {{.name = "helpstate", .help = "the states -t knows", .answer = squeue_help_states}},
};

constexpr CommandText kText{.program = kProgram,
                            .purpose = "Lists the jobs that wait, run or are ending.",
                            .takes_words = true};

void say_valid_states() {
    std::string names;
    for (const std::string_view name : state_names()) {
        if (!names.empty()) names += ',';
        names += to_lower(name);
    }
    say_error(kProgram, "Valid job states include: " + names + "\n");
}

class Parser {
  public:
    SqueueParsed parse(int argc, char** argv);

  private:
    Taken take_words(std::vector<std::string> words);
    Taken settle();
    Taken settle_filter();
    Taken settle_ids();
    Taken settle_states();
    void settle_users();
    void settle_format();

    Typed typed_;
    SqueueOptions options_;
};

// "-j 12": the argument of -j and -s is optional to getopt, so it arrives as a word.
Taken Parser::take_words(std::vector<std::string> words) {
    std::size_t next = 0;
    if (!words.empty() && typed_.job_flag && !typed_.jobs) {
        typed_.jobs = words[next++];
    } else if (!words.empty() && typed_.step_flag && !typed_.steps) {
        typed_.steps = words[next++];
    }
    if (next == words.size()) return std::nullopt;
    return refuse_word(kText, lines_of(kOptions), words[next]);
}

Taken Parser::settle_ids() {
    if (typed_.jobs) {
        auto selectors = parse_job_list(*typed_.jobs);
        if (!selectors) return refuse(kProgram, "Invalid job id: " + selectors.error().message);
        options_.query.filter.jobs = *std::move(selectors);
        options_.query.one_job = options_.query.filter.jobs.size() == 1;
    } else if (typed_.job_flag && typed_.step_flag) {
        return refuse(kProgram, "Incompatible options --jobs and --steps");
    }
    if (typed_.steps) {
        auto selectors = parse_job_list(*typed_.steps);
        if (!selectors)
            return refuse(kProgram, "Invalid job_step id: " + selectors.error().message);
        options_.step_ids = *std::move(selectors);
        for (model::JobSelector whole : options_.step_ids) {
            whole.step.reset();
            options_.query.filter.jobs.push_back(std::move(whole));
        }
    }
    return std::nullopt;
}

Taken Parser::settle_states() {
    if (!typed_.states && typed_.start && !typed_.step_flag) typed_.states = "PD";
    if (!typed_.states) return std::nullopt;
    const auto filter = model::parse_state_filter(*typed_.states);
    if (!filter) {
        say_error(kProgram, filter.error().message);
        say_valid_states();
        return 1;
    }
    options_.query.all_states = true;
    options_.query.filter.states = filter->states;
    return std::nullopt;
}

void Parser::settle_users() {
    std::vector<std::uint32_t>& uids = options_.query.filter.uids;
    if (typed_.me) {
        uids.push_back(geteuid());
        return;
    }
    if (!typed_.users) return;
    for (const std::string& user : split_list(*typed_.users)) {
        if (const auto uid = find_uid(user); uid) {
            uids.push_back(*uid);
        } else {
            say_error(kProgram, fmt::format("Invalid user: {}\n", user));
        }
    }
    options_.matches_nothing = uids.empty();
}

void Parser::settle_format() {
    if (typed_.long_list || typed_.iterate_seconds > 0) options_.date = true;
    view::TableRequest& table = options_.table;
    table.format = typed_.format.value_or("");
    table.long_format = typed_.long_format.value_or("");
    table.sort = typed_.sort.value_or("");
    const bool unset = table.format.empty() && table.long_format.empty();
    if (unset && typed_.start && !typed_.step_flag) table.format = view::kJobFormatStart;
    if (unset && typed_.long_list && !typed_.step_flag) table.format = view::kJobFormatLong;
    if (typed_.start && !typed_.step_flag && table.sort.empty()) table.sort = "S";
}

Taken Parser::settle_filter() {
    model::JobFilter& filter = options_.query.filter;
    if (typed_.accounts) filter.accounts = split_list(*typed_.accounts);
    if (typed_.names) filter.names = split_list(*typed_.names);
    if (typed_.partitions) filter.partitions = split_list(*typed_.partitions);
    if (typed_.qos) filter.qos = split_list(*typed_.qos);
    if (typed_.reservation) filter.reservations = {*typed_.reservation};
    if (typed_.licenses) options_.licenses = split_list(*typed_.licenses);
    if (typed_.nodes) {
        auto nodes = parse_node_list(*typed_.nodes);
        if (!nodes) {
            return refuse(kProgram,
                          fmt::format("'{}' invalid entry for --nodelist", *typed_.nodes));
        }
        filter.nodes = *std::move(nodes);
    }
    options_.running_over = typed_.running_over;
    options_.running_under = typed_.running_under;
    if (typed_.not_me) options_.not_uid = geteuid();
    if (const Taken code = settle_ids(); code) return code;
    if (const Taken code = settle_states(); code) return code;
    settle_users();
    options_.query.hidden_partitions =
        typed_.all_partitions || !filter.jobs.empty() || !filter.partitions.empty();
    return std::nullopt;
}

Taken Parser::settle() {
    if (typed_.long_list && typed_.format) {
        return refuse(
            kProgram,
            "Options -o(--format) and -l(--long) are mutually exclusive. Please remove one and "
            "retry.");
    }
    options_.header = typed_.header;
    options_.iterate_seconds = typed_.iterate_seconds;
    options_.verbose = typed_.verbose;
    options_.clusters = typed_.clusters;
    options_.document = typed_.document;
    options_.split = {.each_element = typed_.each_element, .each_partition = typed_.each_partition};
    options_.view.expand_patterns = typed_.expand_patterns;
    options_.view.convert_units = typed_.convert_units;
    options_.view.time_format = typed_.time_format.value_or("");
    if (typed_.elements_max) {
        if (const auto number = parse_uint(*typed_.elements_max); number) {
            options_.view.elements_max = *number;
        }
    }
    options_.steps = typed_.step_flag;
    options_.query.states_only = typed_.states_only && !typed_.step_flag && !typed_.document.kind;
    options_.query.with_steps = typed_.step_flag || typed_.document.kind.has_value();
    settle_format();
    return settle_filter();
}

SqueueParsed Parser::parse(int argc, char** argv) {
    typed_.document.command.assign(argv, argv + argc);
    ParsedLine line = parse_options(kText, kOptions, typed_, argc, argv);
    if (!line.exit_code) line.exit_code = take_words(std::move(line.words));
    if (!line.exit_code) line.exit_code = settle();
    return {std::move(options_), line.exit_code};
}

bool names_license(const model::Job& job, const std::vector<std::string>& licenses) {
    const auto request = model::parse_license_request(job.spec->licenses);
    return request && std::ranges::any_of(request->entries, [&](const model::License& entry) {
               return std::ranges::find(licenses, entry.name) != licenses.end();
           });
}

}  // namespace

SqueueParsed parse_squeue(int argc, char** argv) { return Parser().parse(argc, argv); }

bool is_wanted(const model::Job& job, const SqueueOptions& options, Instant now) {
    if (job.spec->uid == options.not_uid) return false;
    if (options.running_over || options.running_under) {
        if (model::state_of(job) != model::JobState::Running) return false;
        const Seconds used = view::time_used(job, now);
        if (options.running_over && used <= *options.running_over) return false;
        if (options.running_under && used >= *options.running_under) return false;
    }
    if (!options.licenses.empty() && !names_license(job, options.licenses)) return false;
    const auto& states = options.query.filter.states;
    if (options.query.all_states) {
        if (states.empty()) return true;
        return std::ranges::any_of(states, [&](model::JobState state) {
            return state == model::state_of(job) || state == model::base_state_of(job);
        });
    }
    return !model::is_finished(job);
}

}  // namespace switchyard::cli
