// nodes.cpp: NodeName lines are settled one by one, each on the defaults before it: counts that are
// left out follow from the others, and lists pair with the names. NodeSet and DownNodes lines may
// name nodes of later lines: they are kept, and resolved when all lines have been read.
#include "config/nodes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/limits.hpp"
#include "base/text.hpp"
#include "config/apply.hpp"
#include "config/setters.hpp"
#include "model/hostlist.hpp"

namespace switchyard::config {
namespace {

// One NodeName line: what is the same for all its nodes, and the lists that are paired with the
// names.
struct Draft {
    NodeEntry entry;
    std::uint32_t sockets_per_board = 0;
    std::string host_names, addresses, ports;
};

Status set_start(Draft& draft, std::string_view value) {
    using Start = model::NodeConfig::Start;
    // A reason may follow in the same word on old files: State=DOWN:"text" was never allowed; plain
    // words are.
    constexpr std::pair<std::string_view, Start> kWords[] = {
        {"unknown", Start::Unknown}, {"idle", Start::Unknown}, {"down", Start::Down},
        {"drain", Start::Drain},     {"fail", Start::Drain},   {"failing", Start::Drain},
        {"future", Start::Future},   {"cloud", Start::Future},
    };
    for (const auto& [word, start] : kWords) {
        if (equals_ignoring_case(word, value)) {
            draft.entry.config.start = start;
            return {};
        }
    }
    return fail(Errc::InvalidArgument, fmt::format("\"{}\" is not a state of a node", value));
}

template <auto Member>
Status set_count(Draft& draft, std::string_view value) {
    return set_number<model::NodeConfig, Member>(draft.entry.config, value);
}
template <model::MiB model::NodeConfig::* Member>
Status set_amount(Draft& draft, std::string_view value) {
    return set_memory<model::NodeConfig, Member>(draft.entry.config, value);
}
Status set_features(Draft& draft, std::string_view value) {
    return set_list<model::NodeConfig, &model::NodeConfig::features>(draft.entry.config, value);
}
Status set_reason(Draft& draft, std::string_view value) {
    draft.entry.config.reason = std::string(value);
    return {};
}
Status set_gres(Draft& draft, std::string_view value) {
    draft.entry.gres = std::string(value);
    return {};
}

using model::NodeConfig;
constexpr auto kNodeKeys = std::to_array<KeyRule<Draft>>({
    {"NodeHostname", set_text<Draft, &Draft::host_names>},
    {"NodeAddr", set_text<Draft, &Draft::addresses>},
    {"Port", set_text<Draft, &Draft::ports>},
    {"CPUs", set_count<&NodeConfig::cpus>},
    {"Procs", set_count<&NodeConfig::cpus>},
    {"Boards", set_count<&NodeConfig::boards>},
    {"Sockets", set_count<&NodeConfig::sockets>},
    {"SocketsPerBoard", set_number<Draft, &Draft::sockets_per_board>},
    {"CoresPerSocket", set_count<&NodeConfig::cores_per_socket>},
    {"ThreadsPerCore", set_count<&NodeConfig::threads_per_core>},
    {"RealMemory", set_amount<&NodeConfig::memory>},
    {"TmpDisk", set_amount<&NodeConfig::tmp_disk>},
    {"Weight", set_count<&NodeConfig::weight>},
    {"Features", set_features},
    {"Feature", set_features},
    {"Gres", set_gres},
    {"State", set_start},
    {"Reason", set_reason},
    {"CoreSpecCount", set_count<&NodeConfig::core_spec_count>},
    {"MemSpecLimit", set_amount<&NodeConfig::mem_spec_limit>},
    {"BcastAddr"},
    {"CertType"},
    {"CpuBind"},
    {"CpuSpecList"},
    {"Parameters"},
    {"RestrictedCoresPerGPU"},
    {"Topology"},
    {"TRESWeights"},
});

void apply(Draft& draft, const Pair& pair, const std::string& where, Findings& findings) {
    if (equals_ignoring_case(pair.key, "NodeName")) return;
    apply_pair(find_rule<Draft>(kNodeKeys, pair.key), draft, pair, where, "node", "a NodeName line",
               findings);
}

// Slurm's rules for counts that are left out or do not agree.
void settle_counts(Draft& draft, const std::string& where, Findings& findings) {
    NodeConfig& node = draft.entry.config;
    if (node.boards == 0) node.boards = 1;
    if (draft.sockets_per_board != 0) {
        if (node.sockets != 0 && node.sockets != draft.sockets_per_board * node.boards) {
            findings.notice(
                where, "Sockets and SocketsPerBoard exclude each other; SocketsPerBoard is used");
        }
        node.sockets = draft.sockets_per_board * node.boards;
    }
    const bool has_topology =
        node.sockets != 0 || node.cores_per_socket != 0 || node.threads_per_core != 0;
    if (node.cpus == 0 && !has_topology) return;  // The agent will say.
    if (!has_topology) {
        node.sockets = 1;
        node.cores_per_socket = node.cpus;
        node.threads_per_core = 1;
        return;
    }
    if (node.threads_per_core == 0) node.threads_per_core = 1;
    if (node.cores_per_socket == 0) {
        const std::uint32_t per_core = std::max(1u, node.sockets) * node.threads_per_core;
        const bool divides = node.cpus != 0 && node.cpus % per_core == 0;
        node.cores_per_socket = divides ? node.cpus / per_core : 1;
    }
    if (node.sockets == 0) {
        const std::uint32_t per_socket = node.cores_per_socket * node.threads_per_core;
        node.sockets = node.cpus != 0 && node.cpus % per_socket == 0 ? node.cpus / per_socket : 1;
    }
    const std::uint64_t cores = std::uint64_t{node.sockets} * node.cores_per_socket;
    const std::uint64_t threads = cores * node.threads_per_core;
    if (node.cpus == 0) node.cpus = static_cast<std::uint32_t>(threads);
    if (node.cpus != node.sockets && node.cpus != cores && node.cpus != threads) {
        findings.notice(
            where, fmt::format("CPUs={} matches neither Sockets, nor Sockets*CoresPerSocket, nor "
                               "Sockets*CoresPerSocket*ThreadsPerCore; CPUs={} is used",
                               node.cpus, threads));
        node.cpus = static_cast<std::uint32_t>(threads);
    }
}

// The list paired with the names: as many entries as names, or one for all of them.
std::vector<std::string> paired(const std::string& expression, std::size_t count,
                                std::string_view key, const std::string& where,
                                Findings& findings) {
    std::vector<std::string> out;
    if (expression.empty()) return out;
    // A port list is "[17001-17004]": a hostlist of numbers.
    auto expanded = model::expand_hostlist(expression);
    if (!expanded) {
        findings.error(where, fmt::format("{}={}: {}", key, expression, expanded.error().message));
        return out;
    }
    if (expanded->size() == 1) expanded->resize(count, expanded->front());
    if (expanded->size() != count) {
        findings.error(where, fmt::format("{}={} names {} hosts for {} nodes", key, expression,
                                          expanded->size(), count));
        return out;
    }
    return *std::move(expanded);
}

}  // namespace

void NodeTable::add_nodes(const Line& line, const std::string& where, Findings& findings) {
    const std::string expression = *line.find("NodeName");
    if (equals_ignoring_case(expression, "DEFAULT")) {
        for (const Pair& pair : line.pairs) {
            Draft probe;  // A bad value is reported here, not with every node that inherits it.
            const std::size_t before = findings.errors.size();
            apply(probe, pair, where, findings);
            if (findings.errors.size() == before) defaults_.push_back(pair);
        }
        return;
    }
    Draft draft;
    for (const Pair& pair : defaults_) apply(draft, pair, where, findings);
    for (const Pair& pair : line.pairs) apply(draft, pair, where, findings);
    settle_counts(draft, where, findings);
    draft.entry.where = where;

    const auto names = model::expand_hostlist(expression);
    if (!names || names->empty()) {
        findings.error(where, fmt::format("NodeName={}: {}", expression,
                                          names ? "names no node" : names.error().message));
        return;
    }
    const auto hosts = paired(draft.host_names, names->size(), "NodeHostname", where, findings);
    const auto addresses = paired(draft.addresses, names->size(), "NodeAddr", where, findings);
    const auto ports = paired(draft.ports, names->size(), "Port", where, findings);
    for (std::size_t i = 0; i < names->size(); ++i) {
        NodeEntry entry = draft.entry;
        entry.config.name = (*names)[i];
        if (!hosts.empty()) entry.config.host_name = hosts[i];
        if (!addresses.empty()) entry.config.address = addresses[i];
        if (!ports.empty()) {
            const auto port = parse_number(ports[i], UINT16_MAX);
            if (!port) {
                findings.error(where, fmt::format("Port: {}", port.error().message));
                return;
            }
            entry.config.port = static_cast<std::uint16_t>(*port);
        }
        const auto [at, fresh] = index_.emplace(entry.config.name, entries_.size());
        if (!fresh) {
            findings.error(where, fmt::format("node {} is defined a second time (first at {})",
                                              entry.config.name, entries_[at->second].where));
            return;
        }
        entries_.push_back(std::move(entry));
    }
    if (entries_.size() > limits::kNodesMax) {
        findings.error(where, fmt::format("more than {} nodes", limits::kNodesMax));
    }
}

void NodeTable::add_node_set(const Line& line, const std::string& where, Findings&) {
    sets_to_do_.push_back({line, where});
}

void NodeTable::add_down_nodes(const Line& line, const std::string& where, Findings&) {
    down_to_do_.push_back({line, where});
}

void NodeTable::finish(Findings& findings) {
    for (const Deferred& set : sets_to_do_) finish_node_set(set, findings);
    for (const Deferred& down : down_to_do_) finish_down_nodes(down, findings);
    sets_to_do_.clear();
    down_to_do_.clear();
}

void NodeTable::finish_node_set(const Deferred& set, Findings& findings) {
    const std::string name = *set.line.find("NodeSet");
    std::vector<std::string> members;
    for (const Pair& pair : set.line.pairs) {
        if (equals_ignoring_case(pair.key, "NodeSet")) continue;
        if (equals_ignoring_case(pair.key, "Nodes")) {
            const auto named = resolve(pair.value, set.where, "node set " + name, findings);
            members.insert(members.end(), named.begin(), named.end());
        } else if (equals_ignoring_case(pair.key, "Feature")) {
            for (const NodeEntry& entry : entries_) {
                const auto& features = entry.config.features;
                if (std::ranges::find(features, pair.value) == features.end()) continue;
                members.push_back(entry.config.name);
            }
        } else {
            findings.notice(set.where, unknown_key_text(pair.key, "a NodeSet line"));
        }
    }
    if (index_.contains(name)) {
        findings.error(set.where, fmt::format("node set {} has the name of a node", name));
    }
    sets_[name] = std::move(members);
}

void NodeTable::finish_down_nodes(const Deferred& down, Findings& findings) {
    Draft draft;
    draft.entry.config.start = model::NodeConfig::Start::Down;
    for (const Pair& pair : down.line.pairs) {
        const bool known =
            equals_ignoring_case(pair.key, "State") || equals_ignoring_case(pair.key, "Reason");
        if (known) {
            apply(draft, pair, down.where, findings);
        } else if (!equals_ignoring_case(pair.key, "DownNodes")) {
            findings.notice(down.where, unknown_key_text(pair.key, "a DownNodes line"));
        }
    }
    for (const std::string& name :
         resolve(*down.line.find("DownNodes"), down.where, "DownNodes", findings)) {
        model::NodeConfig& node = entries_[index_.at(name)].config;
        node.start = draft.entry.config.start;
        node.reason = draft.entry.config.reason;
    }
}

std::vector<std::string> NodeTable::all() const {
    std::vector<std::string> names;
    for (const NodeEntry& entry : entries_) names.push_back(entry.config.name);
    return names;
}

std::vector<std::string> NodeTable::resolve(const std::string& expression, const std::string& where,
                                            const std::string& of, Findings& findings) const {
    if (equals_ignoring_case(expression, "ALL")) return all();
    const auto names = model::expand_hostlist(expression);
    if (!names) {
        findings.error(where,
                       fmt::format("{}: Nodes={}: {}", of, expression, names.error().message));
        return {};
    }
    std::vector<std::string> out;
    for (const std::string& name : *names) {
        if (const auto set = sets_.find(name); set != sets_.end()) {
            out.insert(out.end(), set->second.begin(), set->second.end());
        } else if (index_.contains(name)) {
            out.push_back(name);
        } else {
            findings.error(
                where, fmt::format("{} names node {}, which no NodeName line defines", of, name));
        }
    }
    // A node named twice (by a set and by itself) counts once, where it first stood.
    std::map<std::string, bool> seen;
    std::erase_if(out,
                  [&seen](const std::string& name) { return !seen.emplace(name, true).second; });
    return out;
}

}  // namespace switchyard::config
