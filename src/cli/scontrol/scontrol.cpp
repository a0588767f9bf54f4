// scontrol.cpp: options, the command word, and the prompt that reads commands when none is given.
#include "cli/scontrol/scontrol.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "base/text.hpp"
#include "base/version.hpp"
#include "base/visible.hpp"
#include "cli/commands.hpp"
#include "cli/message.hpp"
#include "cli/option_table.hpp"
#include "cli/output.hpp"

namespace switchyard::cli {
namespace {

constexpr std::string_view kProgram = "scontrol";

using Handler = void (*)(Scontrol& control, const Words& words);
struct Command {
    std::string_view name;
    std::size_t shortest;  // How much of the name must be typed.
    Handler run;
};

template <bool Scontrol::* Member, bool Value>
void set_flag(Scontrol& control, const Words&) {
    control.*Member = Value;
}
void print_help(Scontrol&, const Words&);
void print_version(Scontrol&, const Words&) { print(fmt::format("{}\n", kVersionLine)); }
void leave(Scontrol& control, const Words&) { control.leave = true; }

// The numbers by which Slurm's programs know the errors that can happen here.
struct NumberedError {
    std::uint32_t number;
    Errc code;
};
constexpr NumberedError kErrors[] = {
    {1005, Errc::ProtocolVersion},
    {1800, Errc::Unreachable},
    {2000, Errc::InvalidPartition},
    {2002, Errc::AccessDenied},
    {2005, Errc::TooManyCpus},
    {2006, Errc::InvalidNodeCount},
    {2010, Errc::InvalidUserId},
    {2013, Errc::ImmediateFailed},
    {2014, Errc::NodeConfigUnavailable},
    {2015, Errc::PartitionUnavailable},
    {2016, Errc::NodesBusy},
    {2017, Errc::InvalidJobId},
    {2018, Errc::InvalidNodeName},
    {2021, Errc::JobFinished},
    {2023, Errc::TaskDistribution},
    {2024, Errc::JobPending},
    {2025, Errc::InvalidTaskCount},
    {2028, Errc::InvalidNodeState},
    {2029, Errc::InvalidFeature},
    {2031, Errc::ActiveNotAvailable},
    {2036, Errc::Unsupported},
    {2037, Errc::RequeueDisabled},
    {2038, Errc::DependencyProblem},
    {2044, Errc::MemoryNotSatisfiable},
    {2045, Errc::InvalidAccount},
    {2048, Errc::InvalidLicenses},
    {2051, Errc::InvalidTimeLimit},
    {2052, Errc::ReservationAccess},
    {2053, Errc::InvalidReservation},
    {2054, Errc::InvalidTime},
    {2055, Errc::ReservationBusy},
    {2056, Errc::ReservationNotUsable},
    {2058, Errc::ReservationOverlap},
    {2066, Errc::InvalidQos},
    {2072, Errc::InvalidGres},
    {2073, Errc::JobNotPending},
    {2076, Errc::StepLimit},
    {2081, Errc::InvalidArray},
    {2082, Errc::DuplicateReservation},
    {2085, Errc::JobNotRunning},
    {2087, Errc::JobNotSuspended},
    {2089, Errc::TriggerExists},
    {2113, Errc::InvalidGroupId},
    {2120, Errc::RebootInProgress},
    {2128, Errc::ReservationNotSkippable},
    {2129, Errc::UsersAndGroups},
    {5004, Errc::Timeout},
};

void explain_error(Scontrol& control, const Words& words) {
    if (words.size() != 1) return control.complain("one arguments required for keyword:errnumstr");
    const auto number = parse_uint(words[0]);
    if (!number || *number > 65535) {
        return control.complain("numeric arguments required for keyword:errnumstr");
    }
    for (const NumberedError& error : kErrors) {
        if (error.number == *number) return print(fmt::format("{}\n", errc_text(error.code)));
    }
    print(fmt::format("{}\n", std::strerror(static_cast<int>(*number))));
}

// Commands of a Slurm whose parts this cluster does not have: known, and refused with the reason.
template <const char* Reason>
void not_here(Scontrol& control, const Words&) {
    control.complain(Reason);
}
constexpr char kNoPower[] = "power is not available: nodes are not switched on and off";
constexpr char kNoDampening[] = "fsdampeningfactor is not available: there is no fair share";

void choose_cluster(Scontrol& control, const Words& words) {
    control.clusters = words.empty() ? "" : words[0];
}

const Command kCommands[] = {
    {"abort", 5, abort},
    {"all", 3, set_flag<&Scontrol::all, true>},
    {"cancel", 6, cancel},
    {"cancel_reboot", 8, cancel_reboot},
    {"cluster", 2, choose_cluster},
    {"completing", 3, completing},
    {"create", 2, create},
    {"delete", 3, remove},
    {"details", 3, set_flag<&Scontrol::details, true>},
    {"errnumstr", 2, explain_error},
    {"exit", 1, leave},
    {"fsdampeningfactor", 3, not_here<kNoDampening>},
    {"getaddrs", 1, get_addresses},
    {"help", 2, print_help},
    {"hide", 2, set_flag<&Scontrol::all, false>},
    {"hold", 3, hold},
    {"listjobs", 5, list_jobs},
    {"listpids", 1, list_pids},
    {"liststeps", 5, list_steps},
    {"notify", 1, notify},
    {"oneliner", 1, set_flag<&Scontrol::one_line, true>},
    {"pidinfo", 3, pid_info},
    {"ping", 3, ping},
    {"power", 2, not_here<kNoPower>},
    {"quiet", 4, set_flag<&Scontrol::quiet, true>},
    {"quit", 4, leave},
    {"reboot", 3, reboot},
    {"reboot_nodes", 3, reboot},
    {"reconfigure", 3, reconfigure},
    {"release", 3, release},
    {"requeue", 3, requeue},
    {"requeuehold", 8, requeue_hold},
    {"resume", 3, resume},
    {"schedloglevel", 3, sched_log_level},
    {"setdebug", 3, set_debug},
    {"setdebugflags", 9, set_debug_flags},
    {"show", 2, show},
    {"shutdown", 8, shut_down},
    {"suspend", 2, suspend},
    {"takeover", 2, take_over},
    {"token", 3, token},
    {"top", 3, top},
    {"uhold", 2, user_hold},
    {"update", 1, update},
    {"verbose", 4, [](Scontrol& control, const Words&) { ++control.verbose; }},
    {"version", 4, print_version},
    {"wait_job", 2, wait_job},
    {"write", 2, write},
};

const Command* find_command(std::string_view word) {
    for (const Command& command : kCommands) {
        if (equals_ignoring_case(command.name, word)) return &command;
    }
    for (const Command& command : kCommands) {
        if (word.size() >= command.shortest && starts_with_ignoring_case(command.name, word)) {
            return &command;
        }
    }
    return nullptr;
}

void run_words(Scontrol& control, const Words& words) {
    const Command* command = find_command(words[0]);
    if (command == nullptr) {
        control.complain(fmt::format("invalid keyword: {}", words[0]));
        return;
    }
    command->run(control, Words(words.begin() + 1, words.end()));
}

// Words of a typed line: blanks separate, quotes of either kind hold together.
Words split_line(std::string_view line) {
    Words words;
    std::string word;
    char quote = 0;
    bool open = false;
    for (const char c : line) {
        if (quote != 0) {
            if (c == quote)
                quote = 0;
            else
                word += c;
        } else if (c == '"' || c == '\'') {
            quote = c;
            open = true;
        } else if (c == ' ' || c == '\t') {
            if (open) words.push_back(std::move(word));
            word.clear();
            open = false;
        } else {
            word += c;
            open = true;
        }
    }
    if (open) words.push_back(std::move(word));
    return words;
}

void read_commands(Scontrol& control) {
    Words last;
    while (!control.leave) {
        print("scontrol: ");
        std::fflush(stdout);
        const auto line = read_line();
        if (!line) return print("\n");
        Words words = split_line(*line);
        if (words.size() == 1 && words[0] == "!!") words = last;
        if (words.empty()) continue;
        last = words;
        run_words(control, words);
        std::fflush(stdout);
    }
}

Taken refuse_uid(Scontrol&, const OptionUse& use) {
    return refuse(use.program, "--uid: who asks is known from the connection and cannot be chosen");
}
const Option<Scontrol> kOptions[] = {
    {{"all", 'a', Argument::None, "", "hidden partitions too", "SCONTROL_ALL", "hide"},
     flag<&Scontrol::all>},
    {{"details", 'd', Argument::None, "", "more of each record"}, flag<&Scontrol::details>},
    {{.name = "federation", .variables = "SCONTROL_FEDERATION"}, nothing<Scontrol>},
    {{"future", 'F', Argument::None, "", "nodes that are only planned, too", "SCONTROL_FUTURE"},
     flag<&Scontrol::future>},
    {{"hide", 0, Argument::None, "", "leave out hidden partitions (the default)"},
     flag<&Scontrol::all, false>},
    json_option<&Scontrol::document>(),
    json_layout_option<&Scontrol::document>(),
    yaml_layout_option<&Scontrol::document>(),
    {{.name = "local", .variables = "SCONTROL_LOCAL"}, nothing<Scontrol>},
    {{"clusters", 'M', Argument::Required, "NAME", "the cluster to ask", "SLURM_CLUSTERS"},
     keep<&Scontrol::clusters>},
    {{.name = "cluster", .argument = Argument::Required, .same_as = "clusters"}},
    {{"oneliner", 'o', Argument::None, "", "one line for each record"}, flag<&Scontrol::one_line>},
    {{"quiet", 'Q', Argument::None, "", "say nothing of what went wrong; the exit code tells"},
     flag<&Scontrol::quiet>},
    {{.name = "sibling", .variables = "SCONTROL_SIB SCONTROL_SIBLING"}, nothing<Scontrol>},
    {{.name = "uid", .letter = 'u', .argument = Argument::Required}, refuse_uid},
    {{"verbose", 'v', Argument::None, "", "name the cluster that answers"},
     count<&Scontrol::verbose>},
    yaml_option<&Scontrol::document>(),
    {{.help = "how times are written: standard, relative or a pattern of strftime",
      .variables = "SLURM_TIME_FORMAT"},
     keep<&Scontrol::time_format>},
    elements_max_variable<&Scontrol::elements_max>(),
};

CommandText text() {
    return {.program = kProgram,
            .operands = "[COMMAND [WORDS]]",
            .purpose =
                "Shows and changes jobs, nodes and partitions. Without a command it reads "
                "commands.",
            .footer = scontrol_commands(),
            .help_letter = 'h',
            .takes_words = true};
}

// "setdebugflags -Steps": what follows is no option of ours.
std::vector<char*> spare_flags(std::vector<char*> arguments) {
    static char kEnd[] = "--";
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        const std::string_view word = arguments[i];
        if (word.size() < 9 || !starts_with_ignoring_case("setdebugflags", word)) continue;
        arguments.insert(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, kEnd);
        break;
    }
    return arguments;
}

void print_help(Scontrol&, const Words&) { print(help_of(text(), lines_of(kOptions))); }

}  // namespace

Session* Scontrol::session(std::string_view call) {
    if (session_) return &*session_;
    auto opened = open_session(std::string(kProgram));
    if (!opened) {
        say_failed(call, opened.error());
        return nullptr;
    }
    if (!is_our_cluster(kProgram, clusters, opened->config)) {
        exit_code = 1;
        return nullptr;
    }
    if (verbose > 0) say(kProgram, "cluster " + opened->config.cluster_name);
    session_.emplace(*std::move(opened));
    return &*session_;
}

void Scontrol::say_failed(std::string_view call, const Error& error) {
    exit_code = 1;
    if (!quiet) say_call_failed(kProgram, call, error);
}

void Scontrol::complain(std::string_view text) {
    exit_code = 1;
    if (quiet) return;
    std::fflush(stdout);
    const std::string line = visible_lines(text) + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
}

view::RecordStyle Scontrol::style(Instant now) const {
    view::RecordStyle style;
    style.one_line = one_line;
    style.details = details;
    style.now = now;
    style.time_format = time_format;
    if (const auto length = parse_uint(elements_max)) style.elements_max = *length;
    return style;
}

int scontrol_main(int argc, char** argv) {
    Scontrol control;
    control.document.command.assign(argv, argv + argc);
    std::vector<char*> arguments = spare_flags({argv, argv + argc});
    const ParsedLine line = parse_options(text(), kOptions, control,
                                          static_cast<int>(arguments.size()), arguments.data());
    if (line.exit_code) return *line.exit_code;
    if (line.words.empty()) {
        read_commands(control);
    } else {
        run_words(control, line.words);
    }
    return control.exit_code;
}

}  // namespace switchyard::cli
