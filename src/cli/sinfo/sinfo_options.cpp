#include "cli/sinfo/sinfo_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "cli/field_help.hpp"
#include "cli/job_ids.hpp"
#include "cli/message.hpp"
#include "cli/option_table.hpp"
#include "view/node/node_columns.hpp"

namespace switchyard::cli {
namespace {

constexpr std::string_view kProgram = "sinfo";

struct StateWord {
    std::string_view word;
    bool (*matches)(const model::Node&);
};

bool is(const model::Node& node, model::NodeState state) { return model::state_of(node) == state; }
bool never(const model::Node&) { return false; }
// By its jobs alone: one that is drained is idle or busy all the same.
bool is_at_base(const model::Node& node, std::string_view state) {
    return model::full_state(node).starts_with(state);
}
bool is_idle(const model::Node& node) { return is_at_base(node, "IDLE"); }
bool is_mixed(const model::Node& node) { return is_at_base(node, "MIXED"); }
bool is_used(const model::Node& node) { return is_at_base(node, "ALLOCATED") || is_mixed(node); }

// States a node of ours is never in (power saving) are known words that match nothing.
const StateWord kStateWords[] = {
    {"all", [](const model::Node&) { return true; }},
    {"alloc", is_used},
    {"allocated", is_used},
    {"blocked", never},
    {"cloud", never},
    {"comp", [](const model::Node& n) { return n.completing_jobs > 0; }},
    {"completing", [](const model::Node& n) { return n.completing_jobs > 0; }},
    {"down", [](const model::Node& n) { return n.down; }},
    {"drain", [](const model::Node& n) { return n.drain; }},
    {"drained", [](const model::Node& n) { return is(n, model::NodeState::Drained); }},
    {"draining", [](const model::Node& n) { return is(n, model::NodeState::Draining); }},
    {"drng", [](const model::Node& n) { return is(n, model::NodeState::Draining); }},
    {"dynamic_future", never},
    {"dynamic_norm", never},
    {"external", never},
    {"fail", never},
    {"futr", [](const model::Node& n) { return is(n, model::NodeState::Future); }},
    {"future", [](const model::Node& n) { return is(n, model::NodeState::Future); }},
    {"idle", is_idle},
    {"inval", never},
    {"invalid_reg", never},
    {"maint", [](const model::Node& n) { return is(n, model::NodeState::Maint); }},
    {"mix", is_mixed},
    {"mixed", is_mixed},
    {"no_respond", [](const model::Node& n) { return !n.responding; }},
    {"planned", [](const model::Node& n) { return is(n, model::NodeState::Planned); }},
    {"plnd", [](const model::Node& n) { return is(n, model::NodeState::Planned); }},
    {"power_down", never},
    {"power_up", never},
    {"powered_down", never},
    {"powering_down", never},
    {"powering_up", never},
    {"reboot", [](const model::Node& n) { return n.reboot && n.reboot->issued; }},
    {"reboot^", [](const model::Node& n) { return n.reboot && !n.reboot->issued; }},
    {"reboot_issued", [](const model::Node& n) { return n.reboot && n.reboot->issued; }},
    {"reboot_requested", [](const model::Node& n) { return n.reboot && !n.reboot->issued; }},
    {"reserved", [](const model::Node& n) { return is(n, model::NodeState::Reserved); }},
    {"resv", [](const model::Node& n) { return is(n, model::NodeState::Reserved); }},
    {"unk", [](const model::Node& n) { return is(n, model::NodeState::Unknown); }},
    {"unknown", [](const model::Node& n) { return is(n, model::NodeState::Unknown); }},
};

// Those that are listed, in Slurm's order; the short forms are taken as well.
constexpr std::string_view kListedStates =
    "unknown,down,idle,allocated,mixed,future,drain,drained,draining,no_respond,reserved,planned,"
    "blocked,cloud,completing,powering_down,powered_down,power_down,powering_up,power_up,inval,"
    "fail,maint,reboot,reboot^,external,dynamic_future,dynamic_norm";
std::string state_word_list() {
    std::string text(kListedStates);
    std::ranges::replace(text, ',', '\n');
    return text + "\n";
}

std::string field_list() { return in_four_columns(view::node_field_names()); }
std::string letter_list() { return in_eight_columns(view::kNodeHelpLetters); }

// A word, or the first of the listed ones that begins with it, in small letters; nothing when there
// is none.
std::string find_state(std::string_view typed) {
    if (is_node_state(typed)) return to_lower(typed);
    for (const std::string_view listed : split(kListedStates, ',')) {
        if (equals_ignoring_case(listed.substr(0, typed.size()), typed)) return std::string(listed);
    }
    return {};
}

Taken take_states(SinfoOptions& options, const OptionUse& use) {
    options.states.clear();
    for (const std::string_view any : split(use.value, ',')) {
        std::string all(any);
        std::ranges::replace(all, '+', '&');  // Both join states that a node must have at once.
        std::vector<std::string> words;
        for (const std::string_view word : split(all, '&')) {
            if (word.empty()) continue;
            std::string state = find_state(word);
            if (state.empty()) {
                say_error(kProgram, fmt::format("Bad state string: \"{}\"", word));
                say_error(kProgram, fmt::format("valid states: {}", kListedStates));
                return 1;
            }
            words.push_back(std::move(state));
        }
        if (!words.empty()) options.states.push_back(std::move(words));
    }
    return std::nullopt;
}

Taken take_nodes(SinfoOptions& options, const OptionUse& use) {
    auto nodes = parse_node_list(use.value);
    if (!nodes) return refuse(kProgram, fmt::format("'{}' invalid entry for --nodes", use.value));
    options.nodes = *std::move(nodes);
    return std::nullopt;
}

// The site's format is for a plain sinfo; an option that has a format of its own is stronger.
constexpr std::string_view kOwnFormat = "Format long Node summarize list-reasons";

const Option<SinfoOptions> kOptions[] = {
    {{"all", 'a', Argument::None, "", "hidden partitions too", "SINFO_ALL", "hide"},
     flag<&SinfoOptions::all_partitions>},
    {{"dead", 'd', Argument::None, "", "only nodes that do not respond"},
     flag<&SinfoOptions::dead>},
    {{"exact", 'e', Argument::None, "", "nodes of different size on lines of their own"},
     flag<&SinfoOptions::exact>},
    {{.name = "federation", .variables = "SINFO_FEDERATION"}, nothing<SinfoOptions>},
    {{"future", 'F', Argument::None, "", "nodes that are only planned, too"},
     flag<&SinfoOptions::future>},
    {{"noheader", 'h', Argument::None, "", "no headings"}, flag<&SinfoOptions::header, false>},
    {{"hide", 0, Argument::None, "", "leave out hidden partitions (the default)"},
     flag<&SinfoOptions::all_partitions, false>},
    {{"iterate", 'i', Argument::Required, "SECONDS", "print again and again"},
     keep_seconds<&SinfoOptions::iterate_seconds>},
    json_option<&SinfoOptions::document>(),
    json_layout_option<&SinfoOptions::document>(),
    yaml_layout_option<&SinfoOptions::document>(),
    {{.name = "local", .variables = "SINFO_LOCAL"}, nothing<SinfoOptions>},
    {{"long", 'l', Argument::None, "", "more columns"}, flag<&SinfoOptions::long_list>},
    {{"clusters", 'M', Argument::Required, "NAME", "the cluster to ask", "SLURM_CLUSTERS"},
     keep<&SinfoOptions::clusters>},
    {{.name = "cluster", .argument = Argument::Required, .same_as = "clusters"}},
    {{"nodes", 'n', Argument::Required, "NODES", "only these nodes"}, take_nodes},
    {{"Node", 'N', Argument::None, "", "a line for each node and partition"},
     flag<&SinfoOptions::each_node>},
    {{"noconvert", 0, Argument::None, "", "numbers as they are"}, nothing<SinfoOptions>},
    {{"format", 'o', Argument::Required, "FORMAT", "columns by letter: %[[.]width]letter[text]",
      "SINFO_FORMAT", kOwnFormat},
     keep<&SinfoOptions::format>},
    {{"Format", 'O', Argument::Required, "FIELDS", "columns by name: name[:[.][width][text]],..."},
     keep<&SinfoOptions::long_format>},
    {{"partition", 'p', Argument::Required, "NAMES", "only these partitions", "SINFO_PARTITION"},
     keep_list<&SinfoOptions::partitions>},
    {{"responding", 'r', Argument::None, "", "only nodes that respond"},
     flag<&SinfoOptions::responding>},
    {{"list-reasons", 'R', Argument::None, "", "why nodes are down or drained"},
     flag<&SinfoOptions::reasons>},
    {{"summarize", 's', Argument::None, "", "one line for each partition"},
     flag<&SinfoOptions::summarize>},
    {{"sort", 'S', Argument::Required, "LETTERS",
      "order, such as #P,-t (- for descending, #P as configured)", "SINFO_SORT"},
     keep<&SinfoOptions::sort>},
    {{"states", 't', Argument::Required, "STATES",
      "only nodes in these states; & between them: in all"},
     take_states},
    {{"reservation", 'T', Argument::None, "", "reservations"}, flag<&SinfoOptions::reservations>},
    {{"verbose", 'v', Argument::None, "", "say how many nodes and partitions there were"},
     count<&SinfoOptions::verbose>},
    yaml_option<&SinfoOptions::document>(),
    {{.help = "how times are written: standard, relative or a pattern of strftime",
      .variables = "SLURM_TIME_FORMAT"},
     keep<&SinfoOptions::time_format>},
    {{.name = "helpFormat", .help = "the names -O knows", .answer = field_list}},
    {{.name = "helpformat", .help = "the letters -o knows", .answer = letter_list}},
    {{.name = "helpstate", .help = "the states -t knows", .answer = state_word_list}},
};

constexpr CommandText kText{.program = kProgram, .purpose = "Shows partitions and nodes."};

}  // namespace

SinfoParsed parse_sinfo(int argc, char** argv) {
    SinfoParsed parsed;
    SinfoOptions& options = parsed.options;
    options.document.command.assign(argv, argv + argc);
    parsed.exit_code = parse_options(kText, kOptions, options, argc, argv).exit_code;
    if (parsed.exit_code) return parsed;
    if (options.long_format && equals_ignoring_case(*options.long_format, "all")) {
        options.long_format.reset();
        options.format = "%all";
    }
    return parsed;
}

bool is_node_state(std::string_view word) {
    return std::ranges::any_of(kStateWords, [&](const StateWord& state) {
        return equals_ignoring_case(word, state.word);
    });
}

bool has_state(const model::Node& node, std::string_view word) {
    for (const StateWord& state : kStateWords) {
        if (equals_ignoring_case(word, state.word)) return state.matches(node);
    }
    return false;
}

bool is_wanted(const model::Node& node, const SinfoOptions& options) {
    if (is(node, model::NodeState::Future) && !options.future && options.states.empty()) {
        return false;
    }
    if (options.dead && node.responding) return false;
    if (options.responding && !node.responding) return false;
    if (options.reasons && !node.down && !node.drain) return false;
    if (!options.nodes.empty() &&
        std::ranges::find(options.nodes, node.config.name) == options.nodes.end()) {
        return false;
    }
    if (options.states.empty()) return true;
    return std::ranges::any_of(options.states, [&](const std::vector<std::string>& words) {
        return std::ranges::all_of(words,
                                   [&](const std::string& word) { return has_state(node, word); });
    });
}

bool is_wanted(const model::Partition& partition, const SinfoOptions& options) {
    if (!options.partitions.empty()) {
        return std::ranges::find(options.partitions, partition.name) != options.partitions.end();
    }
    return options.all_partitions || !partition.concealed;
}

std::string default_format(const SinfoOptions& options,
                           const std::vector<model::Partition>& partitions,
                           const std::vector<model::Node>& nodes) {
    std::size_t partition_width = 9, node_width = 9;
    for (const model::Partition& partition : partitions) {
        partition_width =
            std::max(partition_width, partition.name.size() + (partition.is_default ? 1 : 0));
    }
    for (const model::Node& node : nodes)
        node_width = std::max(node_width, node.config.name.size());
    if (options.reasons) {
        return options.long_list ? "%20E %12U %19H %6t %N" : "%20E %9u %19H %N";
    }
    if (options.each_node) {
        const std::string start = fmt::format("%{}N %.6D %.{}P ", node_width, partition_width);
        return start + (options.long_list ? "%.11T %4c %.8z %.6m %.8d %.6w %.8f %20E" : "%6t");
    }
    const std::string start = fmt::format("%{}P %.5a %.10l ", partition_width);
    if (options.summarize) return start + "%.16F %N";
    if (options.long_list) return start + "%.10s %.4r %.8h %.10g %.6D %.11T %.11i %N";
    return start + "%.6D %.6t %N";
}

}  // namespace switchyard::cli
