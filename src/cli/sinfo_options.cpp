#include "cli/sinfo_options.hpp"

#include <fmt/format.h>
#include <getopt.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/text.hpp"
#include "cli/format/node_columns.hpp"
#include "cli/help_sinfo.hpp"
#include "cli/help_squeue.hpp"
#include "cli/job_ids.hpp"
#include "cli/message.hpp"

namespace switchyard::cli {
namespace {

constexpr std::string_view kProgram = "sinfo";

enum LongOnly : int {
    kHelp = 0x100,
    kUsage,
    kHide,
    kLocal,
    kNoConvert,
    kFederation,
    kJson,
    kYaml,
    kHelpFormat,
    kHelpState,
};

const option kLongOptions[] = {
    {"all", no_argument, nullptr, 'a'},
    {"cluster", required_argument, nullptr, 'M'},
    {"clusters", required_argument, nullptr, 'M'},
    {"dead", no_argument, nullptr, 'd'},
    {"exact", no_argument, nullptr, 'e'},
    {"federation", no_argument, nullptr, kFederation},
    {"future", no_argument, nullptr, 'F'},
    {"Format", required_argument, nullptr, 'O'},
    {"format", required_argument, nullptr, 'o'},
    {"help", no_argument, nullptr, kHelp},
    {"helpFormat", no_argument, nullptr, kHelpFormat},
    {"helpformat", no_argument, nullptr, kHelpFormat},
    {"helpstate", no_argument, nullptr, kHelpState},
    {"hide", no_argument, nullptr, kHide},
    {"iterate", required_argument, nullptr, 'i'},
    {"json", optional_argument, nullptr, kJson},
    {"list-reasons", no_argument, nullptr, 'R'},
    {"local", no_argument, nullptr, kLocal},
    {"long", no_argument, nullptr, 'l'},
    {"noconvert", no_argument, nullptr, kNoConvert},
    {"Node", no_argument, nullptr, 'N'},
    {"nodes", required_argument, nullptr, 'n'},
    {"noheader", no_argument, nullptr, 'h'},
    {"partition", required_argument, nullptr, 'p'},
    {"reservation", no_argument, nullptr, 'T'},
    {"responding", no_argument, nullptr, 'r'},
    {"sort", required_argument, nullptr, 'S'},
    {"states", required_argument, nullptr, 't'},
    {"summarize", no_argument, nullptr, 's'},
    {"usage", no_argument, nullptr, kUsage},
    {"verbose", no_argument, nullptr, 'v'},
    {"version", no_argument, nullptr, 'V'},
    {"yaml", optional_argument, nullptr, kYaml},
    {nullptr, 0, nullptr, 0},
};

struct StateWord {
    std::string_view word;
    bool (*matches)(const model::Node&);
};

bool is(const model::Node& node, model::NodeState state) { return model::state_of(node) == state; }
bool never(const model::Node&) { return false; }

// States a node of ours is never in (power saving, reboots) are known words that match nothing.
const StateWord kStateWords[] = {
    {"all", [](const model::Node&) { return true; }},
    {"alloc", [](const model::Node& n) { return is(n, model::NodeState::Allocated); }},
    {"allocated", [](const model::Node& n) { return is(n, model::NodeState::Allocated); }},
    {"blocked", never},
    {"cloud", never},
    {"comp", [](const model::Node& n) { return n.completing_jobs > 0; }},
    {"completing", [](const model::Node& n) { return n.completing_jobs > 0; }},
    {"down", [](const model::Node& n) { return n.down; }},
    {"drain", [](const model::Node& n) { return n.drain; }},
    {"drained", [](const model::Node& n) { return is(n, model::NodeState::Drained); }},
    {"draining", [](const model::Node& n) { return is(n, model::NodeState::Draining); }},
    {"drng", [](const model::Node& n) { return is(n, model::NodeState::Draining); }},
    {"fail", never},
    {"failg", never},
    {"failing", never},
    {"futr", [](const model::Node& n) { return is(n, model::NodeState::Future); }},
    {"future", [](const model::Node& n) { return is(n, model::NodeState::Future); }},
    {"idle", [](const model::Node& n) { return is(n, model::NodeState::Idle); }},
    {"inval", never},
    {"maint", never},
    {"mix", [](const model::Node& n) { return is(n, model::NodeState::Mixed); }},
    {"mixed", [](const model::Node& n) { return is(n, model::NodeState::Mixed); }},
    {"no_respond", [](const model::Node& n) { return !n.responding; }},
    {"npc", never},
    {"perfctrs", never},
    {"planned", never},
    {"plnd", never},
    {"pow_dn", never},
    {"pow_up", never},
    {"power_down", never},
    {"power_up", never},
    {"powered_down", never},
    {"powering_down", never},
    {"powering_up", never},
    {"reboot_issued", never},
    {"reboot_requested", never},
    {"reserved", never},
    {"resv", never},
    {"unk", [](const model::Node& n) { return is(n, model::NodeState::Unknown); }},
    {"unknown", [](const model::Node& n) { return is(n, model::NodeState::Unknown); }},
};

int refuse(std::string_view text) {
    say_error(kProgram, text);
    return 1;
}

std::string state_word_list() {
    std::string words;
    for (const StateWord& state : kStateWords) words += fmt::format("{}\n", state.word);
    return words;
}

std::optional<int> answer_question(int letter) {
    const auto print = [](std::string_view text) {
        std::fwrite(text.data(), 1, text.size(), stdout);
        return 0;
    };
    switch (letter) {
        case 'V':
            return print(fmt::format("{}\n", kVersionLine));
        case kHelp:
            return print(sinfo_help());
        case kUsage:
            return print(sinfo_usage());
        case kHelpFormat:
            return print(in_four_columns(format::node_field_names()));
        case kHelpState:
            return print(state_word_list());
        case kJson:
        case kYaml:
            return refuse("JSON and YAML output are not available yet; -o and -O print any field");
        default:
            return std::nullopt;
    }
}

std::optional<int> take_states(SinfoOptions& options, std::string_view text) {
    for (const std::string_view any : split(text, ',')) {
        std::vector<std::string> words;
        for (const std::string_view word : split(any, '&')) {
            if (!is_node_state(word)) {
                say_error(kProgram, fmt::format("Bad state string: \"{}\"", word));
                say_error(kProgram, "Valid node states: see sinfo --helpstate");
                return 1;
            }
            words.push_back(to_lower(word));
        }
        if (!words.empty()) options.states.push_back(std::move(words));
    }
    return std::nullopt;
}

std::optional<int> take_nodes(SinfoOptions& options, const char* text) {
    auto nodes = parse_node_list(text);
    if (!nodes) return refuse(fmt::format("'{}' invalid entry for --nodes", text));
    options.nodes = *std::move(nodes);
    return std::nullopt;
}

std::optional<int> take(SinfoOptions& options, int letter) {
    if (const auto answered = answer_question(letter); answered) return answered;
    switch (letter) {
        case 'a':
            options.all_partitions = true;
            break;
        case kHide:
            options.all_partitions = false;
            break;
        case 'd':
            options.dead = true;
            break;
        case 'e':
            options.exact = true;
            break;
        case 'F':
            options.future = true;
            break;
        case 'h':
            options.header = false;
            break;
        case 'i': {
            const auto seconds = parse_uint(optarg);
            if (!seconds || *seconds == 0 || *seconds > 1000000) {
                return refuse(fmt::format("--iterate={}", optarg));
            }
            options.iterate_seconds = static_cast<int>(*seconds);
            break;
        }
        case 'l':
            options.long_list = true;
            break;
        case 'M':
            options.clusters = optarg;
            break;
        case 'n':
            return take_nodes(options, optarg);
        case 'N':
            options.each_node = true;
            break;
        case 'o':
            options.format = optarg;
            break;
        case 'O':
            options.long_format = optarg;
            break;
        case 'p':
            options.partitions = split_list(optarg);
            break;
        case 'r':
            options.responding = true;
            break;
        case 'R':
            options.reasons = true;
            break;
        case 's':
            options.summarize = true;
            break;
        case 'S':
            options.sort = optarg;
            break;
        case 't':
            options.states.clear();
            return take_states(options, optarg);
        case 'T':
            options.reservations = true;
            break;
        case 'v':
            ++options.verbose;
            break;
        // One cluster that is in no federation, and numbers that are never converted.
        case kFederation:
        case kLocal:
        case kNoConvert:
            break;
        default:
            say_try_help(kProgram);
            return 1;
    }
    return std::nullopt;
}

void add_environment(SinfoOptions& options) {
    const auto text = [](const char* name) {
        const char* value = std::getenv(name);
        return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
    };
    if (text("SINFO_ALL")) options.all_partitions = true;
    if (const auto names = text("SINFO_PARTITION"); names) options.partitions = split_list(*names);
    options.sort = text("SINFO_SORT");
    options.format = text("SINFO_FORMAT");
    options.clusters = text("SLURM_CLUSTERS").value_or("");
}

}  // namespace

SinfoParsed parse_sinfo(int argc, char** argv) {
    SinfoParsed parsed;
    SinfoOptions& options = parsed.options;
    add_environment(options);
    const std::optional<std::string> site_format = options.format;
    options.format.reset();
    optind = 0;  // Start over, also when called twice in one process.
    for (;;) {
        const int letter =
            getopt_long(argc, argv, "adeFhi:lM:n:No:O:p:rRsS:t:TvV", kLongOptions, nullptr);
        if (letter == -1) break;
        parsed.exit_code = take(options, letter);
        if (parsed.exit_code) return parsed;
    }
    if (optind < argc) {
        say_error(kProgram, fmt::format("Unrecognized option: {}", argv[optind]));
        const std::string usage = sinfo_usage();
        std::fwrite(usage.data(), 1, usage.size(), stdout);
        parsed.exit_code = 1;
        return parsed;
    }
    // The site's format is for a plain sinfo; an option that has a format of its own is stronger.
    const bool own_format = options.long_format || options.long_list || options.each_node ||
                            options.summarize || options.reasons;
    if (!options.format && !own_format) options.format = site_format;
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
    return options.all_partitions || !partition.hidden;
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
