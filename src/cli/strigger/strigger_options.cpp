#include "cli/strigger/strigger_options.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>

#include "base/text.hpp"
#include "cli/job_ids.hpp"
#include "cli/message.hpp"

namespace switchyard::cli {
namespace {

using Type = model::TriggerType;
constexpr std::string_view kProgram = "strigger";
constexpr int kOffsetMax = 32000;

template <Type Which>
Taken on(TriggerOptions& options, const OptionUse&) {
    options.types.push_back(Which);
    options.controller |= Which == Type::ControllerResumed;
    return std::nullopt;
}

// Events of what this cluster does not have: known, and refused by name.
template <const char* Why>
Taken not_here(TriggerOptions&, const OptionUse& use) {
    return refuse(use.program, fmt::format("--{}: {}", use.name, Why));
}
constexpr char kNoBackup[] = "there is no backup controller, and one that failed cannot tell";
constexpr char kNoDatabase[] = "there is no database daemon: the controller keeps the history";
constexpr char kNoFrontEnd[] = "there are no front end nodes";
constexpr char kNoBurstBuffer[] = "there are no burst buffers";

Taken keep_nodes(TriggerOptions& options, const OptionUse& use) {
    options.node = true;
    if (!use.has_value) return std::nullopt;
    const auto names = parse_node_list(use.value);
    if (!names) return refuse(use.program, fmt::format("Invalid node name: {}", use.value));
    options.nodes = *names;
    return std::nullopt;
}

Taken keep_job(TriggerOptions& options, const OptionUse& use) {
    const auto id = parse_uint(use.value);
    if (!id || *id == 0 || *id > UINT32_MAX)
        return refuse(use.program, fmt::format("Invalid jobid {}", use.value));
    options.job = JobId{static_cast<std::uint32_t>(*id)};
    return std::nullopt;
}

Taken keep_id(TriggerOptions& options, const OptionUse& use) {
    const auto id = parse_uint(use.value);
    if (!id || *id == 0 || *id > UINT32_MAX)
        return refuse(use.program, fmt::format("Invalid id {}", use.value));
    options.id = static_cast<std::uint32_t>(*id);
    return std::nullopt;
}

Taken keep_user(TriggerOptions& options, const OptionUse& use) {
    options.uid = find_uid(std::string(use.value));
    if (!options.uid) return refuse(use.program, fmt::format("Invalid user {}", use.value));
    return std::nullopt;
}

Taken keep_offset(TriggerOptions& options, const OptionUse& use) {
    int seconds = 0;
    const std::string_view text = use.value.starts_with('+') ? use.value.substr(1) : use.value;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc{} || end != text.data() + text.size())
        return refuse(use.program, fmt::format("Invalid offset {}", use.value));
    if (seconds < -kOffsetMax || seconds > kOffsetMax)
        return refuse(use.program, "The --offset parameter must be between +/-32000");
    options.offset = Seconds{seconds};
    return std::nullopt;
}

Taken keep_flags(TriggerOptions& options, const OptionUse& use) {
    for (const std::string& word : split_list(use.value)) {
        if (!equals_ignoring_case(word, "perm"))
            return refuse(use.program, fmt::format("Invalid flags {}", use.value));
        options.permanent = true;
    }
    return std::nullopt;
}

using Options = TriggerOptions;
const Option<Options> kOptions[] = {
    {{"set", 0, Argument::None, "", "set a trigger"}, flag<&Options::set>},
    {{"get", 0, Argument::None, "", "show triggers"}, flag<&Options::get>},
    {{"clear", 0, Argument::None, "", "remove triggers"}, flag<&Options::clear>},
    {{.name = "primary_slurmctld_failure", .letter = 'a'}, not_here<kNoBackup>},
    {{"primary_slurmctld_resumed_operation", 'A', Argument::None, "",
      "when the controller has started"},
     on<Type::ControllerResumed>},
    {{.name = "primary_slurmctld_resumed_control", .letter = 'b'}, not_here<kNoBackup>},
    {{.name = "backup_slurmctld_failure", .letter = 'B'}, not_here<kNoBackup>},
    {{.name = "backup_slurmctld_resumed_operation", .letter = 'c'}, not_here<kNoBackup>},
    {{.name = "backup_slurmctld_assumed_control", .letter = 'C'}, not_here<kNoBackup>},
    {{.name = "burst_buffer"}, not_here<kNoBurstBuffer>},
    {{"down", 'd', Argument::None, "", "when a node goes down"}, on<Type::Down>},
    {{"drained", 'D', Argument::None, "", "when a node is drained and nothing runs on it"},
     on<Type::Drained>},
    {{"draining", 0, Argument::None, "", "when a node is drained while jobs run on it"},
     on<Type::Draining>},
    {{.name = "primary_slurmctld_acct_buffer_full", .letter = 'e'}, not_here<kNoDatabase>},
    {{"fail", 'F', Argument::None, "", "when a node is set to FAIL"}, on<Type::Fail>},
    {{"fini", 'f', Argument::None, "", "when the job is over"}, on<Type::Fini>},
    {{"flags", 0, Argument::Required, "FLAGS", "perm: the trigger stays when it has been run"},
     keep_flags},
    {{.name = "front_end"}, not_here<kNoFrontEnd>},
    {{.name = "primary_slurmdbd_failure", .letter = 'g'}, not_here<kNoDatabase>},
    {{.name = "primary_slurmdbd_resumed_operation", .letter = 'G'}, not_here<kNoDatabase>},
    {{.name = "primary_database_failure", .letter = 'h'}, not_here<kNoDatabase>},
    {{.name = "primary_database_resumed_operation", .letter = 'H'}, not_here<kNoDatabase>},
    {{"id", 'i', Argument::Required, "N", "this trigger"}, keep_id},
    {{"idle", 'I', Argument::None, "", "when a node has been idle for --offset seconds"},
     on<Type::Idle>},
    {{"jobid", 'j', Argument::Required, "ID", "of this job, or of the nodes it has"}, keep_job},
    {{"clusters", 'M', Argument::Required, "NAME", "the cluster to ask", "SLURM_CLUSTERS"},
     keep<&Options::clusters>},
    {{.name = "cluster", .argument = Argument::Required, .same_as = "clusters"}},
    {{"node", 'n', Argument::Optional, "NODES", "of these nodes, or of any"}, keep_nodes},
    {{"noheader", 'N', Argument::None, "", "no headings"}, flag<&Options::header, false>},
    {{"offset", 'o', Argument::Required, "SECONDS",
      "so long after the event; a negative number: before it"},
     keep_offset},
    {{"program", 'p', Argument::Required, "PATH", "what is run, with arguments if it has any"},
     keep<&Options::program>},
    {{"quiet", 'Q', Argument::None, "", "do not mind triggers that are gone"},
     flag<&Options::quiet>},
    {{"reconfig", 'r', Argument::None, "", "when the configuration or the state of a node changes"},
     on<Type::Reconfig>},
    {{"resume", 'R', Argument::None, "", "when a node is set to RESUME"}, on<Type::Resume>},
    {{"time", 't', Argument::None, "", "when the job reaches its time limit"}, on<Type::Time>},
    {{"up", 'u', Argument::None, "", "when a node that was down is back"}, on<Type::Up>},
    {{"user", 0, Argument::Required, "NAME", "triggers of this user"}, keep_user},
    {{"verbose", 'v', Argument::None, "", "say what was done"}, count<&Options::verbose>},
};

constexpr CommandText kText{
    .program = kProgram,
    .operands = "[--set|--get|--clear]",
    .purpose =
        "Sets, shows and removes triggers: programs that are run when something happens to\n"
        "nodes or jobs.",
    .footer =
        "The program is run on the controller's host as the user who set the trigger, with "
        "the\nnodes or the id of the job as its last argument.\n",
    .help_letter = 0,
    .takes_words = false};

bool is_of_job_alone(Type type) { return type == Type::Time || type == Type::Fini; }

std::optional<std::string> problem_of_set(const Options& options) {
    if (options.types.empty()) {
        return "You must specify a trigger (--down, --up, --drained, --draining, --fail, --idle, "
               "--resume, --reconfig, --time, --fini or --primary_slurmctld_resumed_operation)";
    }
    if (options.program.empty()) return "You must specify a --program value";
    if (!options.program.starts_with('/')) return "The --program value must start with \"/\"";
    const std::string path = options.program.substr(0, options.program.find(' '));
    struct stat facts{};
    if (::stat(path.c_str(), &facts) != 0) return "Invalid --program value, file not found";
    if (!S_ISREG(facts.st_mode)) return "Invalid --program value, not regular file";
    if (options.job && options.node) return "--jobid and --node cannot be combined";
    if (!options.job && std::ranges::any_of(options.types, is_of_job_alone))
        return "You must specify a --jobid value";
    const bool before = options.offset < Seconds{0};
    const auto has_an_end = [](Type type) { return type == Type::Time; };
    if (before && !std::ranges::all_of(options.types, has_an_end))
        return "only the end of a job's time is known before it comes: --offset below 0 is for "
               "--time";
    return std::nullopt;
}

}  // namespace

Taken parse_trigger_options(int argc, char** argv, TriggerOptions& options) {
    const ParsedLine line = parse_options(kText, kOptions, options, argc, argv);
    if (line.exit_code) return line.exit_code;
    if (options.set + options.get + options.clear != 1) {
        return refuse(kProgram,
                      "You must use exactly one of the following options: --set, --get or --clear");
    }
    if (options.clear && !options.id && !options.job && !options.uid)
        return refuse(kProgram, "You must specify a --id, --jobid, or --user to clear");
    if (options.set) {
        if (const auto problem = problem_of_set(options)) return refuse(kProgram, *problem);
    }
    return std::nullopt;
}

}  // namespace switchyard::cli
