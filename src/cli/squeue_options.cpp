#include "cli/squeue_options.hpp"

#include <fmt/format.h>
#include <getopt.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "base/text.hpp"
#include "cli/help_squeue.hpp"
#include "cli/job_ids.hpp"
#include "cli/message.hpp"

namespace switchyard::cli {
namespace {

constexpr std::string_view kProgram = "squeue";

enum LongOnly : int {
    kHelp = 0x100,
    kHide,
    kStart,
    kNoConvert,
    kArrayUnique,
    kFederation,
    kLocal,
    kSibling,
    kMe,
    kUsage,
    kJson,
    kYaml,
    kOnlyJobState,
    kHelpState,
    kHelpFormat,
    kExpandPatterns,
};

const option kLongOptions[] = {
    {"account", required_argument, nullptr, 'A'},
    {"accounts", required_argument, nullptr, 'A'},
    {"all", no_argument, nullptr, 'a'},
    {"array", no_argument, nullptr, 'r'},
    {"array-unique", no_argument, nullptr, kArrayUnique},
    {"cluster", required_argument, nullptr, 'M'},
    {"clusters", required_argument, nullptr, 'M'},
    {"expand-patterns", no_argument, nullptr, kExpandPatterns},
    {"federation", no_argument, nullptr, kFederation},
    {"Format", required_argument, nullptr, 'O'},
    {"format", required_argument, nullptr, 'o'},
    {"help", no_argument, nullptr, kHelp},
    {"helpFormat", no_argument, nullptr, kHelpFormat},
    {"helpformat", no_argument, nullptr, kHelpFormat},
    {"helpstate", no_argument, nullptr, kHelpState},
    {"hide", no_argument, nullptr, kHide},
    {"iterate", required_argument, nullptr, 'i'},
    {"jobs", optional_argument, nullptr, 'j'},
    {"json", optional_argument, nullptr, kJson},
    {"licenses", required_argument, nullptr, 'L'},
    {"local", no_argument, nullptr, kLocal},
    {"long", no_argument, nullptr, 'l'},
    {"me", no_argument, nullptr, kMe},
    {"name", required_argument, nullptr, 'n'},
    {"noconvert", no_argument, nullptr, kNoConvert},
    {"node", required_argument, nullptr, 'w'},
    {"nodes", required_argument, nullptr, 'w'},
    {"nodelist", required_argument, nullptr, 'w'},
    {"noheader", no_argument, nullptr, 'h'},
    {"only-job-state", no_argument, nullptr, kOnlyJobState},
    {"partition", required_argument, nullptr, 'p'},
    {"partitions", required_argument, nullptr, 'p'},
    {"priority", no_argument, nullptr, 'P'},
    {"qos", required_argument, nullptr, 'q'},
    {"reservation", required_argument, nullptr, 'R'},
    {"sib", no_argument, nullptr, kSibling},
    {"sibling", no_argument, nullptr, kSibling},
    {"sort", required_argument, nullptr, 'S'},
    {"start", no_argument, nullptr, kStart},
    {"states", required_argument, nullptr, 't'},
    {"steps", optional_argument, nullptr, 's'},
    {"usage", no_argument, nullptr, kUsage},
    {"user", required_argument, nullptr, 'u'},
    {"users", required_argument, nullptr, 'u'},
    {"verbose", no_argument, nullptr, 'v'},
    {"version", no_argument, nullptr, 'V'},
    {"yaml", optional_argument, nullptr, kYaml},
    {nullptr, 0, nullptr, 0},
};

// Texts as typed; empty optional: not given. Only when all is read does their meaning get worked
// out.
struct Typed {
    std::optional<std::string> accounts, users, names, partitions, qos, states, nodes, licenses,
        reservation, jobs, steps, sort, format, long_format, clusters;
    bool job_flag = false, step_flag = false, long_list = false, start = false, me = false;
};

std::optional<std::string> environment(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr) return std::nullopt;
    return std::string(value);
}

void say_valid_states() {
    std::string names;
    for (const std::string_view name : state_names()) {
        if (!names.empty()) names += ',';
        for (const char c : name) names += c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    }
    say_error(kProgram, "Valid job states include: " + names + "\n");
}

int refuse(std::string_view text) {
    say_error(kProgram, text);
    return 1;
}

class Parser {
  public:
    SqueueParsed parse(int argc, char** argv);

  private:
    std::optional<int> take(int letter);
    std::optional<int> take_interval();
    std::optional<int> take_words(int argc, char** argv);
    void add_environment();
    std::optional<int> settle();
    std::optional<int> settle_ids();
    std::optional<int> settle_states();
    void settle_users();
    void settle_format();

    Typed typed_;
    SqueueOptions options_;
};

// Options that only say something; nullopt: not one of them.
std::optional<int> answer_question(int letter) {
    const auto print = [](std::string_view text) {
        std::fwrite(text.data(), 1, text.size(), stdout);
        return 0;
    };
    switch (letter) {
        case 'V':
            return print(fmt::format("{}\n", kVersionLine));
        case kHelp:
            return print(squeue_help());
        case kUsage:
            return print(squeue_usage());
        case kHelpState:
            return print(squeue_help_states());
        case kHelpFormat:
            return print(squeue_help_format());
        case kJson:
        case kYaml:
            return refuse("JSON and YAML output are not available yet; -o and -O print any field");
        default:
            return std::nullopt;
    }
}

std::optional<int> Parser::take_interval() {
    const auto seconds = parse_uint(optarg);
    if (!seconds || *seconds == 0 || *seconds > 1000000) {
        return refuse(fmt::format("--iterate={}", optarg));
    }
    options_.iterate_seconds = static_cast<int>(*seconds);
    return std::nullopt;
}

std::optional<int> Parser::take(int letter) {
    if (const auto answered = answer_question(letter); answered) return answered;
    switch (letter) {
        case 'A':
            typed_.accounts = optarg;
            break;
        case 'a':
            options_.all_partitions = true;
            break;
        case kHide:
            options_.all_partitions = false;
            break;
        case 'h':
            options_.header = false;
            break;
        case 'i':
            return take_interval();
        case 'j':
            typed_.job_flag = true;
            if (optarg != nullptr) typed_.jobs = optarg;
            break;
        case 'l':
            typed_.long_list = true;
            break;
        case 'L':
            typed_.licenses = optarg;
            break;
        case 'M':
            typed_.clusters = optarg;
            break;
        case 'n':
            typed_.names = optarg;
            break;
        case 'O':
            if (typed_.format) return refuse("-O (--Format) is incompatible with -o (--format)");
            typed_.long_format = optarg;
            break;
        case 'o':
            if (typed_.long_format)
                return refuse("-o (--format) is incompatible with -O (--Format)");
            typed_.format = optarg;
            break;
        case 'p':
            typed_.partitions = optarg;
            break;
        case 'P':
            options_.split.each_partition = true;
            break;
        case 'q':
            typed_.qos = optarg;
            break;
        case 'R':
            typed_.reservation = optarg;
            break;
        case kArrayUnique:
        case 'r':
            options_.split.each_element = true;
            break;
        case 's':
            typed_.step_flag = true;
            if (optarg != nullptr) typed_.steps = optarg;
            break;
        case 'S':
            typed_.sort = optarg;
            break;
        case 't':
            typed_.states = optarg;
            break;
        case 'u':
            typed_.users = optarg;
            break;
        case kMe:
            typed_.me = true;
            break;
        case 'v':
            ++options_.verbose;
            break;
        case 'w':
            typed_.nodes = optarg;
            break;
        case kStart:
            typed_.start = true;
            break;
        case kNoConvert:
            options_.convert_units = false;
            break;
        // One cluster that is in no federation: these ask for what is printed anyway. So does
        // --only-job-state, which asks for less than we print, and --expand-patterns.
        case kFederation:
        case kLocal:
        case kSibling:
        case kOnlyJobState:
        case kExpandPatterns:
            break;
        default:
            say_try_help(kProgram);
            return 1;
    }
    return std::nullopt;
}

// "-j 12": the argument of -j and -s is optional to getopt, so it arrives as a word.
std::optional<int> Parser::take_words(int argc, char** argv) {
    if (optind < argc && typed_.job_flag && !typed_.jobs) {
        typed_.jobs = argv[optind++];
    } else if (optind < argc && typed_.step_flag && !typed_.steps) {
        typed_.steps = argv[optind++];
    }
    if (optind < argc) {
        say_error(kProgram, fmt::format("Unrecognized option: {}", argv[optind]));
        const std::string usage = squeue_usage();
        std::fwrite(usage.data(), 1, usage.size(), stdout);
        return 1;
    }
    return std::nullopt;
}

void Parser::add_environment() {
    const auto fill = [](std::optional<std::string>& text, const char* name) {
        if (!text) text = environment(name);
    };
    fill(typed_.accounts, "SQUEUE_ACCOUNT");
    fill(typed_.names, "SQUEUE_NAMES");
    fill(typed_.licenses, "SQUEUE_LICENSES");
    fill(typed_.partitions, "SQUEUE_PARTITION");
    fill(typed_.qos, "SQUEUE_QOS");
    fill(typed_.states, "SQUEUE_STATES");
    fill(typed_.sort, "SQUEUE_SORT");
    fill(typed_.clusters, "SLURM_CLUSTERS");
    if (!typed_.me) fill(typed_.users, "SQUEUE_USERS");
    if (environment("SQUEUE_ALL")) options_.all_partitions = true;
    if (environment("SQUEUE_ARRAY") || environment("SQUEUE_ARRAY_UNIQUE")) {
        options_.split.each_element = true;
    }
    if (environment("SQUEUE_PRIORITY")) options_.split.each_partition = true;
    const bool own_format =
        typed_.format || typed_.long_format || typed_.long_list || typed_.step_flag || typed_.start;
    if (own_format) return;
    fill(typed_.format, "SQUEUE_FORMAT");
    if (!typed_.format) fill(typed_.long_format, "SQUEUE_FORMAT2");
}

std::optional<int> Parser::settle_ids() {
    if (typed_.jobs) {
        auto selectors = parse_job_list(*typed_.jobs);
        if (!selectors) return refuse("Invalid job id: " + selectors.error().message);
        options_.query.filter.jobs = *std::move(selectors);
        options_.query.one_job = options_.query.filter.jobs.size() == 1;
    } else if (typed_.job_flag && typed_.step_flag) {
        return refuse("Incompatible options --jobs and --steps");
    }
    if (typed_.steps) {
        auto selectors = parse_job_list(*typed_.steps);
        if (!selectors) return refuse("Invalid job_step id: " + selectors.error().message);
        options_.step_ids = *std::move(selectors);
        for (model::JobSelector whole : options_.step_ids) {
            whole.step.reset();
            options_.query.filter.jobs.push_back(std::move(whole));
        }
    }
    return std::nullopt;
}

std::optional<int> Parser::settle_states() {
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
    if (typed_.long_list || options_.iterate_seconds > 0) options_.date = true;
    format::TableRequest& table = options_.table;
    table.format = typed_.format.value_or("");
    table.long_format = typed_.long_format.value_or("");
    table.sort = typed_.sort.value_or("");
    const bool unset = table.format.empty() && table.long_format.empty();
    if (unset && typed_.start && !typed_.step_flag) table.format = format::kJobFormatStart;
    if (unset && typed_.long_list && !typed_.step_flag) table.format = format::kJobFormatLong;
    if (typed_.start && !typed_.step_flag && table.sort.empty()) table.sort = "S";
}

std::optional<int> Parser::settle() {
    if (typed_.long_list && typed_.format) {
        return refuse(
            "Options -o(--format) and -l(--long) are mutually exclusive. Please remove one and "
            "retry.");
    }
    client::JobFilter& filter = options_.query.filter;
    if (typed_.accounts) filter.accounts = split_list(*typed_.accounts);
    if (typed_.names) filter.names = split_list(*typed_.names);
    if (typed_.partitions) filter.partitions = split_list(*typed_.partitions);
    if (typed_.qos) filter.qos = split_list(*typed_.qos);
    if (typed_.reservation) filter.reservations = {*typed_.reservation};
    if (typed_.licenses) options_.licenses = split_list(*typed_.licenses);
    options_.clusters = typed_.clusters.value_or("");
    if (typed_.nodes) {
        auto nodes = parse_node_list(*typed_.nodes);
        if (!nodes) {
            return refuse(fmt::format("'{}' invalid entry for --nodelist", *typed_.nodes));
        }
        filter.nodes = *std::move(nodes);
    }
    options_.steps = typed_.step_flag;
    options_.query.with_steps = typed_.step_flag;
    if (const auto code = settle_ids(); code) return code;
    if (const auto code = settle_states(); code) return code;
    settle_users();
    settle_format();
    if (!filter.jobs.empty() || !filter.partitions.empty()) options_.all_partitions = true;
    options_.query.hidden_partitions = options_.all_partitions;
    return std::nullopt;
}

SqueueParsed Parser::parse(int argc, char** argv) {
    optind = 0;  // Start over, also when called twice in one process.
    for (;;) {
        const int letter = getopt_long(
            argc, argv, "A:ahi:j::lL:n:M:O:o:p:Pq:R:rs::S:t:u:U:vVw:", kLongOptions, nullptr);
        if (letter == -1) break;
        const auto exit_code = take(letter == 'U' ? 'A' : letter);
        if (exit_code) return {options_, exit_code};
    }
    if (const auto code = take_words(argc, argv); code) return {options_, code};
    add_environment();
    const auto exit_code = settle();
    return {std::move(options_), exit_code};
}

bool names_license(const model::Job& job, const std::vector<std::string>& licenses) {
    for (const std::string_view entry : split(job.spec->licenses, ',')) {
        const std::string_view name = entry.substr(0, entry.find(':'));
        if (std::ranges::find(licenses, name) != licenses.end()) return true;
    }
    return false;
}

}  // namespace

SqueueParsed parse_squeue(int argc, char** argv) { return Parser().parse(argc, argv); }

bool is_wanted(const model::Job& job, const SqueueOptions& options) {
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
