// sbcast.cpp: copies a file to every node of a job, as the job's user. The copying is a step of the
// job: one task on each node reads the file from its standard input, so it goes the way that input
// of tasks goes, straight to the nodes.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/job_ids.hpp"
#include "cli/message.hpp"
#include "cli/option_table.hpp"
#include "cli/sbcast/broadcast.hpp"
#include "cli/session.hpp"

namespace switchyard::cli {
namespace {

constexpr std::string_view kProgram = "sbcast";
constexpr std::uint64_t kBlockBytesMax = std::uint64_t{1} << 30;

constexpr int kNotSent = 255;  // Slurm's exit code when no node was asked.

struct Parsed {
    Broadcast plan;
    std::string node_text;  // --nodelist, as typed.
    bool job_given = false, without_job = false;
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

int refuse_value(const OptionUse& use) {
    return refuse(kProgram, use.variable.empty()
                                ? fmt::format("Invalid value \"{}\"", use.value)
                                : fmt::format("Invalid value in {}", use.variable));
}

Taken take_compress(Parsed&, const OptionUse& use) {
    const std::string_view kind = use.value.empty() ? "lz4" : use.value;
    if (kind == "none") return std::nullopt;
    if (kind != "lz4") return refuse_value(use);
    say(kProgram, "warning: --compress is ignored: files are sent as they are");
    return std::nullopt;
}

Taken take_exclude(Parsed& parsed, const OptionUse& use) {
    parsed.plan.exclude = use.value;
    return std::nullopt;
}

template <auto Member>
Taken set_in_plan(Parsed& parsed, const OptionUse&) {
    parsed.plan.*Member = true;
    return std::nullopt;
}

Taken take_fanout(Parsed&, const OptionUse& use) {
    return parse_uint(use.value) ? std::nullopt : Taken(refuse_value(use));
}

// Of the job around this command: one whose number is none is no job.
Taken take_job(Parsed& parsed, const OptionUse& use) {
    parsed.plan.job = job_number(use.value).value_or(0);
    parsed.job_given = use.variable.empty();
    return parsed.plan.job == 0 && parsed.job_given ? Taken(refuse_value(use)) : std::nullopt;
}

Taken take_nodes(Parsed& parsed, const OptionUse& use) {
    auto nodes = parse_node_list(use.value);
    if (!nodes || nodes->empty()) return refuse_value(use);
    parsed.node_text = use.value;
    parsed.plan.nodes = *std::move(nodes);
    return std::nullopt;
}

Taken take_libraries(Parsed& parsed, const OptionUse& use) {
    const bool no = equals_ignoring_case(use.value, "no");
    parsed.plan.send_libs = !no;
    const bool known = no || use.value.empty() || equals_ignoring_case(use.value, "yes");
    return known || !use.variable.empty() ? std::nullopt : Taken(refuse_value(use));
}

Taken take_size(Parsed&, const OptionUse& use) {
    return is_size(use.value) ? std::nullopt : Taken(refuse_value(use));
}

Taken take_timeout(Parsed& parsed, const OptionUse& use) {
    parsed.plan.timeout_seconds = static_cast<std::uint32_t>(parse_uint(use.value).value_or(0));
    return parsed.plan.timeout_seconds > 0 ? std::nullopt : Taken(refuse_value(use));
}

const Option<Parsed> kOptions[] = {
    {{"compress", 'C', Argument::Optional, "LIB", "accepted; files are sent as they are",
      "SBCAST_COMPRESS"},
     take_compress},
    {{"exclude", 0, Argument::Required, "PATHS",
      "folders whose libraries are not sent (NONE: none)", "SBCAST_EXCLUDE"},
     take_exclude},
    {{"fanout", 'F', Argument::Required, "NUMBER", "accepted; every node is reached directly",
      "SBCAST_FANOUT"},
     take_fanout},
    {{.name = "treewidth", .argument = Argument::Required, .same_as = "fanout"}},
    {{"force", 'f', Argument::None, "", "replace a file that exists", "SBCAST_FORCE"},
     set_in_plan<&Broadcast::force>},
    {{"jobid", 'j', Argument::Required, "ID[.STEP]",
      "the job; by default the one around this command", "SLURM_JOB_ID"},
     take_job},
    {{"no-allocation", 'Z', Argument::None, "", "refused: files go to the nodes of a job"},
     flag<&Parsed::without_job>},
    {{"nodelist", 'w', Argument::Required, "NODES", "only to these of the job's nodes"},
     take_nodes},
    {{"preserve", 'p', Argument::None, "", "keep times and mode of the file", "SBCAST_PRESERVE"},
     set_in_plan<&Broadcast::preserve>},
    {{"send-libs", 0, Argument::Optional, "yes|no", "send the shared libraries of a program too",
      "SBCAST_SEND_LIBS"},
     take_libraries},
    {{"size", 's', Argument::Required, "SIZE", "size of a block (k, m)", "SBCAST_SIZE"}, take_size},
    {{"timeout", 't', Argument::Required, "SECONDS", "give up when it takes longer",
      "SBCAST_TIMEOUT"},
     take_timeout},
    {{"verbose", 'v', Argument::None, "", "say what is done"}, set_in_plan<&Broadcast::verbose>},
};
constexpr CommandText kText{.program = kProgram,
                            .operands = "SOURCE DEST",
                            .purpose = "Copies a file to every node of a job.",
                            .footer = {},
                            .help_letter = 0,
                            .takes_words = true};

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

int sbcast_main(int argc, char** argv) {
    Parsed parsed;
    const ParsedLine line = parse_options(kText, kOptions, parsed, argc, argv);
    if (line.exit_code) return *line.exit_code;
    if (line.words.size() != 2) {
        say_error(kProgram, fmt::format("Need two file names, have {} names", line.words.size()));
        say_try_help(kProgram);
        return 1;
    }
    parsed.plan.source = line.words[0];
    parsed.plan.target = line.words[1];
    return run(parsed);
}

}  // namespace switchyard::cli
