// sbcast.cpp: copies a file to every node of a job, as the job's user. The copying is a step of the
// job: one task on each node reads the file from its standard input, so it goes the way that input
// of tasks goes, straight to the nodes.
#include <fcntl.h>
#include <fmt/format.h>
#include <getopt.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/commands.hpp"
#include "cli/job_ids.hpp"
#include "cli/message.hpp"
#include "cli/sbcast/broadcast.hpp"
#include "cli/session.hpp"

namespace switchyard::cli {
namespace {

constexpr std::string_view kProgram = "sbcast";
constexpr std::uint64_t kBlockBytesMax = std::uint64_t{1} << 30;

constexpr std::string_view kHelp =
    "Usage: sbcast [OPTIONS] SOURCE DEST\n"
    "  -C, --compress[=lib]     accepted; files are sent as they are\n"
    "      --exclude=paths      folders whose libraries are not sent (NONE: none)\n"
    "  -f, --force              replace a file that exists\n"
    "  -F, --fanout=num         accepted; every node is reached directly\n"
    "  -Z, --no-allocation      refused: files go to the nodes of a job\n"
    "  -w, --nodelist=nodes     only to these of the job's nodes\n"
    "  -j, --jobid=id[.step]    the job; by default the one around this command\n"
    "  -p, --preserve           keep times and mode of the file\n"
    "      --send-libs[=yes|no] send the shared libraries of a program too\n"
    "  -s, --size=num           size of a block (k, m)\n"
    "  -t, --timeout=secs       give up when it takes longer\n"
    "  -v, --verbose            say what is done\n"
    "  -V, --version            print the version\n"
    "      --help, --usage      print this text\n";

constexpr int kNotSent = 255;  // Slurm's exit code when no node was asked.

struct Parsed {
    Broadcast plan;
    std::string node_text;  // --nodelist, as typed.
    bool job_given = false, without_job = false;
    std::optional<int> exit_code;
};

bool is_size(std::string_view text) {
    if (!text.empty() &&
        (text.back() == 'k' || text.back() == 'K' || text.back() == 'm' || text.back() == 'M'))
        text.remove_suffix(1);
    const auto number = parse_uint(text);
    return number && *number > 0 && *number <= kBlockBytesMax;
}

// "12", "12.0": the step only says which nodes, and they are the job's.
std::optional<std::uint32_t> job_number(std::string_view text) {
    const auto number = parse_uint(text.substr(0, text.find('.')));
    if (!number || *number == 0 || *number > 0xffffffffu) return std::nullopt;
    return static_cast<std::uint32_t>(*number);
}

bool set_compress(const char* value) {
    const std::string_view kind = value == nullptr ? "lz4" : value;
    if (kind == "none") return true;
    if (kind != "lz4") return false;
    say(kProgram, "warning: --compress is ignored: files are sent as they are");
    return true;
}

// The name of a variable whose value is none, or nothing.
std::string_view apply_variables(Broadcast& plan) {
    const auto is_set = [](const char* name) { return std::getenv(name) != nullptr; };
    plan.force |= is_set("SBCAST_FORCE");
    plan.preserve |= is_set("SBCAST_PRESERVE");
    if (const char* wish = std::getenv("SBCAST_SEND_LIBS"))
        plan.send_libs = !equals_ignoring_case(wish, "no");
    if (const char* paths = std::getenv("SBCAST_EXCLUDE")) plan.exclude = paths;
    if (const char* time = std::getenv("SBCAST_TIMEOUT")) {
        plan.timeout_seconds = static_cast<std::uint32_t>(parse_uint(time).value_or(0));
        if (plan.timeout_seconds == 0) return "SBCAST_TIMEOUT";
    }
    if (const char* job = std::getenv("SLURM_JOB_ID")) plan.job = job_number(job).value_or(0);
    const char* kind = std::getenv("SBCAST_COMPRESS");
    if (kind != nullptr && !set_compress(*kind == '\0' ? nullptr : kind)) return "SBCAST_COMPRESS";
    const char* size = std::getenv("SBCAST_SIZE");
    if (size != nullptr && !is_size(size)) return "SBCAST_SIZE";
    const char* fanout = std::getenv("SBCAST_FANOUT");
    if (fanout != nullptr && !parse_uint(fanout)) return "SBCAST_FANOUT";
    return {};
}

bool set_nodes(Parsed& parsed, std::string_view value) {
    auto nodes = parse_node_list(value);
    if (!nodes || nodes->empty()) return false;
    parsed.node_text = value;
    parsed.plan.nodes = *std::move(nodes);
    return true;
}

bool apply(int letter, Parsed& parsed) {
    Broadcast& plan = parsed.plan;
    const std::string_view value = optarg == nullptr ? "" : optarg;
    switch (letter) {
        case 'C':
            return set_compress(optarg);
        case 'F':
            return parse_uint(value).has_value();
        case 'f':
            plan.force = true;
            return true;
        case 'j':
            plan.job = job_number(value).value_or(0);
            parsed.job_given = true;
            return plan.job != 0;
        case 'p':
            plan.preserve = true;
            return true;
        case 's':
            return is_size(value);
        case 't':
            plan.timeout_seconds = static_cast<std::uint32_t>(parse_uint(value).value_or(0));
            return plan.timeout_seconds > 0;
        case 'v':
            plan.verbose = true;
            return true;
        case 'w':
            return set_nodes(parsed, value);
        case 'Z':
            parsed.without_job = true;
            return true;
        case 1:
            plan.exclude = value;
            return true;
        case 2:
            plan.send_libs = !equals_ignoring_case(value, "no");
            return value.empty() || equals_ignoring_case(value, "no") ||
                   equals_ignoring_case(value, "yes");
        default:
            return true;
    }
}

Parsed parse(int argc, char** argv) {
    static const option kOptions[] = {{"compress", optional_argument, nullptr, 'C'},
                                      {"exclude", required_argument, nullptr, 1},
                                      {"fanout", required_argument, nullptr, 'F'},
                                      {"force", no_argument, nullptr, 'f'},
                                      {"help", no_argument, nullptr, 3},
                                      {"jobid", required_argument, nullptr, 'j'},
                                      {"no-allocation", no_argument, nullptr, 'Z'},
                                      {"nodelist", required_argument, nullptr, 'w'},
                                      {"preserve", no_argument, nullptr, 'p'},
                                      {"send-libs", optional_argument, nullptr, 2},
                                      {"size", required_argument, nullptr, 's'},
                                      {"timeout", required_argument, nullptr, 't'},
                                      {"treewidth", required_argument, nullptr, 'F'},
                                      {"usage", no_argument, nullptr, 3},
                                      {"verbose", no_argument, nullptr, 'v'},
                                      {"version", no_argument, nullptr, 'V'},
                                      {nullptr, 0, nullptr, 0}};
    Parsed parsed;
    if (const std::string_view wrong = apply_variables(parsed.plan); !wrong.empty()) {
        say_error(kProgram, fmt::format("Invalid value in {}", wrong));
        parsed.exit_code = 1;
        return parsed;
    }
    for (int letter = 0;
         (letter = getopt_long(argc, argv, "C::fF:j:ps:t:vVw:Z", kOptions, nullptr)) != -1;) {
        if (letter == '?') {
            say_try_help(kProgram);
            parsed.exit_code = 1;
        } else if (letter == 'V' || letter == 3) {
            const std::string_view text = letter == 'V' ? kVersionLine : kHelp;
            std::fwrite(text.data(), 1, text.size(), stdout);
            if (letter == 'V') std::fputc('\n', stdout);
            parsed.exit_code = 0;
        } else if (!apply(letter, parsed)) {
            say_error(kProgram,
                      fmt::format("Invalid value \"{}\"", optarg == nullptr ? "" : optarg));
            parsed.exit_code = 1;
        }
        if (parsed.exit_code) return parsed;
    }
    if (argc - optind != 2) {
        say_error(kProgram, fmt::format("Need two file names, have {} names", argc - optind));
        say_try_help(kProgram);
        parsed.exit_code = 1;
        return parsed;
    }
    parsed.plan.source = argv[optind];
    parsed.plan.target = argv[optind + 1];
    return parsed;
}

// What is wrong with the options together, in Slurm's words.
std::string_view contradiction(const Parsed& parsed) {
    if (parsed.without_job && parsed.job_given)
        return "--no-allocation/-Z and --jobid/-j options are mutually exclusive";
    if (parsed.without_job && parsed.plan.nodes.empty())
        return "--nodelist/-w is required with --no-allocation/-Z.";
    if (parsed.without_job)
        return "--no-allocation: files are copied by a step of a job, and nodes take them from "
               "nobody else";
    if (parsed.plan.job == 0)
        return "Need a job id to run this command.  Run from within a Slurm job or use "
               "the --jobid option.";
    return {};
}

// Whether the nodes asked for are the job's. Of a job that is not there srun will tell.
Result<bool> are_of_job(const Broadcast& plan) {
    SY_TRY(Session session, open_session(std::string(kProgram)));
    client::JobsQuery query;
    query.filter.jobs.emplace_back().job = JobId{plan.job};
    SY_TRY(const client::JobsChunk found, client::fetch_jobs(session.connection, query));
    for (const model::Job& job : found.jobs) {
        const model::Allocation* allocation = model::allocation_of(job);
        if (job.id.value != plan.job || allocation == nullptr) continue;
        const std::vector<std::string> names = allocation->node_names();
        return std::ranges::all_of(plan.nodes, [&](const std::string& node) {
            return std::ranges::find(names, node) != names.end();
        });
    }
    return true;
}

int run(const Parsed& parsed) {
    if (const std::string_view wrong = contradiction(parsed); !wrong.empty()) {
        say_error(kProgram, wrong);
        return 1;
    }
    if (!parsed.plan.nodes.empty()) {
        const auto known = are_of_job(parsed.plan);
        if (!known) {
            say_call_failed(kProgram, "Problem talking to the controller", known.error());
            return kNotSent;
        }
        if (!*known) {
            say_error(kProgram, fmt::format("Not all nodes in --nodelist/-w '{}' are in job {}.",
                                            parsed.node_text, parsed.plan.job));
            return kNotSent;
        }
    }
    const Status done = broadcast(parsed.plan);
    if (!done && !done.error().message.empty()) say_error(kProgram, done.error().message);
    return done ? 0 : 1;
}

}  // namespace
}  // namespace switchyard::cli

int switchyard::cli::sbcast_main(int argc, char** argv) {
    char name[] = "sbcast";  // getopt's messages begin with it.
    argv[0] = name;
    const Parsed parsed = parse(argc, argv);
    return parsed.exit_code ? *parsed.exit_code : run(parsed);
}
