#include "cli/switchyard/wishes.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/message.hpp"
#include "cli/option_table.hpp"
#include "model/size_format.hpp"

namespace switchyard::cli {
namespace {

constexpr std::uint32_t kPretendNodesMax = 256;
constexpr std::uint32_t kCpusMax = 65536;

template <auto Member, std::uint32_t Max>
Taken keep_count(Wishes& wishes, const OptionUse& use) {
    const auto number = parse_uint(use.value);
    if (!number || *number == 0 || *number > Max) {
        return refuse(use.program, fmt::format("--{}: \"{}\" is not a number between 1 and {}",
                                               use.name, use.value, Max));
    }
    wishes.*Member = static_cast<std::uint32_t>(*number);
    return std::nullopt;
}

Taken take_memory(Wishes& wishes, const OptionUse& use) {
    const auto amount = model::parse_memory(use.value);
    if (!amount || amount->value == 0) {
        return refuse(use.program,
                      fmt::format("--{}: \"{}\" is not an amount of memory (4000M, 16G)", use.name,
                                  use.value));
    }
    wishes.memory = std::to_string(amount->value);
    return std::nullopt;
}

constexpr Option<Wishes> name_option(std::string_view help) {
    return {{"name", 0, Argument::Required, "NAME", help}, keep<&Wishes::name>};
}
constexpr Option<Wishes> dir_option(std::string_view help) {
    return {{"dir", 0, Argument::Required, "FOLDER", help}, keep<&Wishes::dir>};
}
constexpr std::string_view kElsewhere = "where it lives, if not in its usual place";

const Option<Wishes> kUpOptions[] = {
    {{"nodes", 0, Argument::Required, "N",
      "N pretend nodes n1..nN on this machine (default: one node, the machine itself)"},
     keep_count<&Wishes::nodes, kPretendNodesMax>},
    {{"cpus", 0, Argument::Required, "C", "CPUs of each node (default: all that the machine has)"},
     keep_count<&Wishes::cpus, kCpusMax>},
    {{"memory", 0, Argument::Required, "M",
      "memory of each node: 4000M, 16G (default: the machine's, divided by N)"},
     take_memory},
    {{"gres", 0, Argument::Required, "LIST",
      "generic resources of each node: gpu:2 (default: the machine's cards, divided by N)"},
     keep<&Wishes::gres>},
    name_option("name of the cluster (default: local); several run side by side"),
    dir_option("where it lives (default: /var/lib/switchyard/NAME, or ~/.switchyard/NAME)"),
    {{"foreground", 0, Argument::None, "", "stay until interrupted, then take the cluster down"},
     flag<&Wishes::foreground>},
};
constexpr CommandText kUpText{
    .program = "switchyard up",
    .operands = {},
    .purpose =
        "Starts a cluster on this machine and waits until its nodes are ready. Run again, it\n"
        "starts what is not running and leaves the rest alone. As root the cluster serves all\n"
        "users, else only you.",
    .footer = {},
    .help_letter = 'h'};

constexpr std::string_view kWhich =
    "name of the cluster (default: the one of SLURM_CONF if \"up\" made it, else local)";
const Option<Wishes> kDownOptions[] = {
    {{"keep-jobs", 0, Argument::None, "",
      "stop only the daemons; running jobs go on and are found again by \"switchyard up\""},
     flag<&Wishes::keep_jobs>},
    name_option(kWhich),
    dir_option(kElsewhere),
};
constexpr CommandText kDownText{
    .program = "switchyard down",
    .operands = {},
    .purpose =
        "Ends the cluster's running jobs and stops its daemons. Pending jobs stay in the\n"
        "queue and run after the next \"switchyard up\".",
    .footer = {},
    .help_letter = 'h'};

const Option<Wishes> kStatusOptions[] = {
    name_option("name of the cluster (default: the one that all commands find)"),
    dir_option(kElsewhere),
};
constexpr CommandText kStatusText{
    .program = "switchyard status",
    .operands = {},
    .purpose =
        "Shows the daemons, nodes, jobs, disks and last errors of a cluster, and what is wrong.",
    .footer =
        "Exits with 0 if all is well; with 1 if something wants attention: a node that is\n"
        "out, an agent that does not run or is of another version, a disk nearly full; with\n"
        "2 if the controller does not answer, or the disk of its state is full.\n",
    .help_letter = 'h'};

}  // namespace

WishesParsed parse_wishes(std::string_view verb, const std::vector<std::string>& arguments) {
    std::vector<std::string> words = arguments;
    words.emplace(words.begin(), "switchyard");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    WishesParsed parsed;
    const auto parse = [&](const CommandText& text, const auto& table) {
        const auto count = static_cast<int>(words.size());
        return parse_options(text, table, parsed.wishes, count, argv.data()).exit_code;
    };
    parsed.exit_code = verb == "up"     ? parse(kUpText, kUpOptions)
                       : verb == "down" ? parse(kDownText, kDownOptions)
                                        : parse(kStatusText, kStatusOptions);
    return parsed;
}

std::string help_of_verb(std::string_view verb) {
    if (verb == "up") return help_of(kUpText, lines_of(kUpOptions));
    if (verb == "down") return help_of(kDownText, lines_of(kDownOptions));
    if (verb == "status") return help_of(kStatusText, lines_of(kStatusOptions));
    return {};
}

}  // namespace switchyard::cli
