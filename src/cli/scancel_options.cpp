#include "cli/scancel_options.hpp"

#include <fmt/format.h>
#include <getopt.h>
#include <unistd.h>

#include <cstdlib>

#include "cli/job_ids.hpp"
#include "cli/message.hpp"
#include "cli/output.hpp"
#include "model/job_state.hpp"
#include "model/signals.hpp"

namespace switchyard::cli {
namespace {

constexpr std::string_view kProgram = "scancel";

enum LongOnly : int { kHelp = 0x100, kUsage, kCtld, kMe, kSibling, kWckey };

const option kLongOptions[] = {
    {"account", required_argument, nullptr, 'A'},
    {"batch", no_argument, nullptr, 'b'},
    {"cluster", required_argument, nullptr, 'M'},
    {"clusters", required_argument, nullptr, 'M'},
    {"ctld", no_argument, nullptr, kCtld},
    {"cron", no_argument, nullptr, 'c'},
    {"full", no_argument, nullptr, 'f'},
    {"help", no_argument, nullptr, kHelp},
    {"hurry", no_argument, nullptr, 'H'},
    {"interactive", no_argument, nullptr, 'i'},
    {"jobname", required_argument, nullptr, 'n'},
    {"me", no_argument, nullptr, kMe},
    {"name", required_argument, nullptr, 'n'},
    {"nodelist", required_argument, nullptr, 'w'},
    {"partition", required_argument, nullptr, 'p'},
    {"qos", required_argument, nullptr, 'q'},
    {"quiet", no_argument, nullptr, 'Q'},
    {"reservation", required_argument, nullptr, 'R'},
    {"sibling", required_argument, nullptr, kSibling},
    {"signal", required_argument, nullptr, 's'},
    {"state", required_argument, nullptr, 't'},
    {"usage", no_argument, nullptr, kUsage},
    {"user", required_argument, nullptr, 'u'},
    {"verbose", no_argument, nullptr, 'v'},
    {"version", no_argument, nullptr, 'V'},
    {"wckey", required_argument, nullptr, kWckey},
    {nullptr, 0, nullptr, 0},
};

constexpr std::string_view kUsageText =
    "Usage: scancel [-A account] [--batch] [--full] [--interactive] [-n job_name]\n"
    "               [-p partition] [-Q] [-q qos] [-R reservation] [-s signal | integer]\n"
    "               [-t PENDING | RUNNING | SUSPENDED] [--usage] [-u user_name]\n"
    "               [--hurry] [-V] [-v] [-w hosts...] [--wckey=wckey]\n"
    "               [job_id[_array_id][.step_id]]\n";

constexpr std::string_view kHelpText =
    "Usage: scancel [OPTIONS] [job_id[_array_id][.step_id]...]\n"
    "Ends or signals jobs, elements of job arrays, or steps.\n"
    "  -A, --account=NAME      only jobs of this account\n"
    "  -b, --batch             signal only the batch shell\n"
    "      --ctld              ask the controller (which is always asked)\n"
    "  -c, --cron              confirm that scrontab jobs are meant (there are none yet)\n"
    "  -f, --full              signal the batch shell and its children too\n"
    "  -H, --hurry             do not wait for data to be staged out\n"
    "  -i, --interactive       ask before each job\n"
    "  -M, --clusters=NAME     the cluster to ask\n"
    "      --me                only your own jobs\n"
    "  -n, --name=NAME         only jobs with this name\n"
    "  -p, --partition=NAME    only jobs in this partition\n"
    "  -q, --qos=NAME          only jobs with this quality of service\n"
    "  -Q, --quiet             say nothing of jobs that are already over\n"
    "  -R, --reservation=NAME  only jobs in this reservation\n"
    "  -s, --signal=NAME       send this signal instead of ending the job\n"
    "  -t, --state=STATE       only jobs in this state: PENDING, RUNNING or SUSPENDED\n"
    "  -u, --user=NAME         only jobs of this user\n"
    "  -v, --verbose           say what is done\n"
    "  -V, --version           the version\n"
    "  -w, --nodelist=NODES    only jobs on these nodes\n"
    "      --wckey=KEY         only jobs with this workload characterization key\n"
    "\n"
    "Help options:\n"
    "      --help              this text\n"
    "      --usage             the options in brief\n";

int refuse(std::string_view text) {
    say_error(kProgram, text);
    return 1;
}

std::optional<int> take_user(ScancelOptions& options, const std::string& user) {
    const auto uid = find_uid(user);
    if (!uid) return refuse("Invalid user name: " + user);
    options.filter.uids = {*uid};
    return std::nullopt;
}

std::optional<int> take_states(ScancelOptions& options, const std::string& text) {
    const auto filter = model::parse_state_filter(text);
    if (!filter) return refuse(filter.error().message);
    options.filter.states = filter->states;
    return std::nullopt;
}

std::optional<int> take_signal(ScancelOptions& options, const std::string& text) {
    const auto signal = model::parse_signal(text);
    if (!signal) return refuse("Unknown job signal: " + text);
    options.signal.signal = *signal;
    return std::nullopt;
}

// Node names, or a file of them: a name with a slash is a path.
std::optional<int> take_nodes(ScancelOptions& options, const std::string& text) {
    std::string list = text;
    if (text.find('/') != std::string::npos) {
        const auto words = read_words(text);
        if (!words) return refuse(words.error().message);
        list.clear();
        for (const std::string& word : *words) list += (list.empty() ? "" : ",") + word;
    }
    auto nodes = parse_node_list(list);
    if (!nodes) return refuse(fmt::format("Invalid node list: {}", text));
    options.filter.nodes = *std::move(nodes);
    return std::nullopt;
}

std::optional<int> answer_question(int letter) {
    switch (letter) {
        case kHelp:
            print(kHelpText);
            return 0;
        case kUsage:
            print(kUsageText);
            return 0;
        case 'V':
            print(fmt::format("{}\n", kVersionLine));
            return 0;
        case kSibling:
            return refuse("--sibling: this cluster is in no federation");
        default:
            return std::nullopt;
    }
}

std::optional<int> take(ScancelOptions& options, int letter) {
    if (const auto answered = answer_question(letter); answered) return answered;
    switch (letter) {
        case 'A':
            options.filter.accounts = {optarg};
            break;
        case 'b':
            options.signal.batch_only = true;
            break;
        case 'f':
            options.signal.full = true;
            break;
        case 'H':
            options.signal.hurry = true;
            break;
        case 'i':
            options.interactive = true;
            break;
        case 'M':
            options.clusters = optarg;
            break;
        case kMe:
            options.filter.uids = {geteuid()};
            break;
        case 'n':
            options.filter.names = {optarg};
            break;
        case 'p':
            options.filter.partitions = split_list(optarg);
            break;
        case 'q':
            options.filter.qos = split_list(optarg);
            break;
        case 'Q':
            options.quiet = true;
            break;
        case 'R':
            options.filter.reservations = {optarg};
            break;
        case 's':
            return take_signal(options, optarg);
        case 't':
            return take_states(options, optarg);
        case 'u':
            return take_user(options, optarg);
        case 'v':
            ++options.verbose;
            break;
        case 'w':
            return take_nodes(options, optarg);
        case kWckey:
            options.filter.wckeys = {optarg};
            break;
        // The controller is asked in any case, and no job comes from a crontab.
        case kCtld:
        case 'c':
            break;
        default:
            say_try_help(kProgram);
            return 1;
    }
    return std::nullopt;
}

std::optional<int> add_environment(ScancelOptions& options) {
    const auto text = [](const char* name) -> std::optional<std::string> {
        const char* value = std::getenv(name);
        if (value == nullptr) return std::nullopt;
        return value;
    };
    const auto flag = [&](const char* name) {
        const auto value = text(name);
        return value && *value != "0" && *value != "false" && *value != "f";
    };
    if (const auto name = text("SCANCEL_ACCOUNT"); name) options.filter.accounts = {*name};
    if (const auto name = text("SCANCEL_NAME"); name) options.filter.names = {*name};
    if (const auto name = text("SCANCEL_PARTITION"); name) options.filter.partitions = {*name};
    if (const auto name = text("SCANCEL_QOS"); name) options.filter.qos = {*name};
    if (const auto name = text("SCANCEL_WCKEY"); name) options.filter.wckeys = {*name};
    options.signal.batch_only = flag("SCANCEL_BATCH");
    options.signal.full = flag("SCANCEL_FULL");
    options.signal.hurry = flag("SCANCEL_HURRY");
    options.interactive = flag("SCANCEL_INTERACTIVE");
    if (flag("SCANCEL_VERBOSE")) options.verbose = 1;
    options.clusters = text("SLURM_CLUSTERS").value_or("");
    if (const auto state = text("SCANCEL_STATE"); state) {
        if (const auto code = take_states(options, *state); code) return code;
    }
    if (const auto user = text("SCANCEL_USER"); user) return take_user(options, *user);
    return std::nullopt;
}

bool has_filter(const client::JobFilter& filter) {
    return !filter.uids.empty() || !filter.names.empty() || !filter.partitions.empty() ||
           !filter.accounts.empty() || !filter.qos.empty() || !filter.nodes.empty() ||
           !filter.reservations.empty() || !filter.wckeys.empty() || !filter.states.empty();
}

std::optional<int> take_jobs(ScancelOptions& options, int argc, char** argv) {
    for (int i = optind; i < argc; ++i) {
        auto selectors = parse_job_list(argv[i]);
        if (!selectors) return refuse("Invalid job id " + selectors.error().message);
        for (model::JobSelector& selector : *selectors) {
            options.filter.jobs.push_back(std::move(selector));
        }
    }
    if (!options.filter.jobs.empty()) return std::nullopt;
    if (!has_filter(options.filter)) return refuse("No job identification provided");
    // "All jobs named x" of somebody who is not root means his own.
    if (options.filter.uids.empty() && geteuid() != 0) options.filter.uids = {geteuid()};
    return std::nullopt;
}

}  // namespace

ScancelParsed parse_scancel(int argc, char** argv) {
    ScancelParsed parsed;
    parsed.exit_code = add_environment(parsed.options);
    if (parsed.exit_code) return parsed;
    optind = 0;  // Start over, also when called twice in one process.
    for (;;) {
        const int letter =
            getopt_long(argc, argv, "A:bcfHiM:n:p:q:QR:s:t:u:vVw:", kLongOptions, nullptr);
        if (letter == -1) break;
        parsed.exit_code = take(parsed.options, letter);
        if (parsed.exit_code) return parsed;
    }
    parsed.exit_code = take_jobs(parsed.options, argc, argv);
    return parsed;
}

}  // namespace switchyard::cli
