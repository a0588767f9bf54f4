#include "view/node/node_columns.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "model/hostlist.hpp"
#include "view/node/node_facts.hpp"

namespace switchyard::view {
namespace {

using model::Node;
using model::Partition;
constexpr Overflow kCut = Overflow::Cut;
using Group = NodeGroup;

std::string number(std::uint64_t value) { return std::to_string(value); }

// --- of the partition ---

std::string availability(const Group& group) {
    if (group.partition == nullptr) return "n/a";
    switch (group.partition->state) {
        case model::PartitionState::Up:
            return "up";
        case model::PartitionState::Down:
            return "down";
        case model::PartitionState::Drain:
            return "drain";
        case model::PartitionState::Inactive:
            return "inact";
    }
    return "n/a";
}

std::string limit_text(const model::TimeLimit& limit) {
    return limit.unlimited ? "infinite" : model::format_duration_short(limit.seconds);
}
std::string max_time(const Group& group) {
    return group.partition == nullptr ? "n/a" : limit_text(group.partition->max_time);
}
std::string default_time(const Group& group) {
    if (group.partition == nullptr || !group.partition->default_time) return "n/a";
    return limit_text(*group.partition->default_time);
}

std::string name_or_all(const std::vector<std::string>& names) {
    return names.empty() ? "all" : join(names, ",");
}
std::string groups(const Group& group) {
    return group.partition == nullptr ? "n/a" : name_or_all(group.partition->allow_groups);
}
std::string alloc_nodes(const Group& group) {
    return group.partition == nullptr ? "n/a" : name_or_all(group.partition->alloc_nodes);
}

std::string over_subscribe(const Group& group) {
    if (group.partition == nullptr) return "n/a";
    const Partition& partition = *group.partition;
    switch (partition.over_subscribe) {
        case Partition::OverSubscribe::No:
            return "NO";
        case Partition::OverSubscribe::Exclusive:
            return "EXCLUSIVE";
        case Partition::OverSubscribe::Yes:
            return fmt::format("YES:{}", partition.over_subscribe_count);
        case Partition::OverSubscribe::Force:
            return fmt::format("FORCE:{}", partition.over_subscribe_count);
    }
    return "NO";
}

std::string job_size(const Group& group) {
    if (group.partition == nullptr) return "n/a";
    const std::uint32_t least = std::max(1U, group.partition->min_nodes);
    const auto& most = group.partition->max_nodes;
    if (!most) return fmt::format("{}-infinite", least);
    return *most == least ? number(least) : fmt::format("{}-{}", least, *most);
}

std::string partition_name(const Group& group) {
    return group.partition == nullptr ? "n/a" : group.partition->name;
}
std::string marked_partition(const Group& group) {
    const bool is_default = group.partition != nullptr && group.partition->is_default;
    return partition_name(group) + (is_default ? "*" : "");
}

std::string preempt_mode(const Group& group) {
    const bool set = group.partition != nullptr && group.partition->preempt_mode;
    return std::string(to_string(set ? *group.partition->preempt_mode : model::PreemptMode::Off));
}

std::string max_cpus_per_node(const Group& group) {
    const bool set = group.partition != nullptr && group.partition->max_cpus_per_node;
    return set ? number(*group.partition->max_cpus_per_node) : "UNLIMITED";
}

template <auto Member>
std::string partition_number(const Group& group) {
    return group.partition == nullptr ? "n/a" : number(group.partition->*Member);
}

// --- sizes: the least of the group, with a '+' if they differ ---

template <class Value>
std::pair<Value, Value> range_of(const Group& group, Value (*value)(const Node&)) {
    std::pair<Value, Value> range{};
    for (std::size_t i = 0; i < group.nodes.size(); ++i) {
        const Value one = value(*group.nodes[i]);
        range.first = i == 0 ? one : std::min(range.first, one);
        range.second = i == 0 ? one : std::max(range.second, one);
    }
    return range;
}

std::string least(const Group& group, std::uint64_t (*value)(const Node&)) {
    const auto [low, high] = range_of(group, value);
    return number(low) + (low != high ? "+" : "");
}

std::string cpus(const Group& group) {
    return least(group, [](const Node& n) -> std::uint64_t { return size_of(n).cpus; });
}
std::string sockets(const Group& group) {
    return least(group, [](const Node& n) -> std::uint64_t { return size_of(n).sockets; });
}
std::string cores(const Group& group) {
    return least(group, [](const Node& n) -> std::uint64_t { return size_of(n).cores_per_socket; });
}
std::string threads(const Group& group) {
    return least(group, [](const Node& n) -> std::uint64_t { return size_of(n).threads_per_core; });
}
std::string sockets_cores_threads(const Group& group) {
    return sockets(group) + ":" + cores(group) + ":" + threads(group);
}
std::string memory(const Group& group) {
    return least(group, [](const Node& n) -> std::uint64_t { return size_of(n).memory.value; });
}
std::string disk(const Group& group) {
    return least(group, [](const Node& n) -> std::uint64_t { return size_of(n).tmp_disk.value; });
}
std::string weight(const Group& group) {
    return least(group, [](const Node& n) -> std::uint64_t { return n.config.weight; });
}
std::string port(const Group& group) {
    constexpr std::uint16_t kUsualPort = 6818;
    return least(group, [](const Node& n) -> std::uint64_t {
        return n.config.port != 0 ? n.config.port : kUsualPort;
    });
}

bool is_registered(const Group& group) {
    return !group.nodes.empty() && std::ranges::all_of(group.nodes, [](const Node* node) {
        return node->facts.has_value();
    });
}
std::string free_memory(const Group& group) {
    if (!is_registered(group)) return "N/A";
    const auto [low, high] =
        range_of<std::uint64_t>(group, [](const Node& n) { return n.facts->free_memory.value; });
    return low == high ? number(low) : fmt::format("{}-{}", low, high);
}
std::string cpu_load(const Group& group) {
    if (!is_registered(group)) return "N/A";
    const auto [low, high] =
        range_of<double>(group, [](const Node& n) { return n.facts->cpu_load; });
    const std::string from = fmt::format("{:.2f}", low), to = fmt::format("{:.2f}", high);
    return from == to ? from : from + "-" + to;
}

// --- of the first node, where all of the group agree ---

const Node* first(const Group& group) {
    return group.nodes.empty() ? nullptr : group.nodes.front();
}

template <class Text>
std::string of_first(const Group& group, std::string_view none, Text text) {
    const Node* node = first(group);
    const std::string found = node == nullptr ? std::string() : text(*node);
    return found.empty() ? std::string(none) : found;
}

std::string active_features(const Group& group) {
    const Node* node = first(group);
    if (node != nullptr && node->config.active_features)
        return join(*node->config.active_features, ",");
    return of_first(group, "(null)", [](const Node& n) { return join(n.config.features, ","); });
}
std::string features(const Group& group) {
    return of_first(group, "(null)", [](const Node& n) { return join(n.config.features, ","); });
}
std::string gres(const Group& group) {
    return of_first(group, "(null)", [](const Node& n) { return model::to_string(gres_of(n)); });
}
std::string gres_used(const Group& group) {
    return of_first(group, "(null)",
                    [](const Node& n) { return model::format_gres_used(gres_of(n), n.used_gres); });
}
std::string reason(const Group& group) {
    return of_first(group, "none", [](const Node& n) { return n.mark ? n.mark->reason : ""; });
}
std::string reason_time(const Group& group) {
    return of_first(group, "Unknown", [&](const Node& n) {
        return n.mark ? moment_text(n.mark->at, *group.view, "Unknown") : std::string();
    });
}
std::string reason_user(const Group& group) {
    return of_first(group, "Unknown", [](const Node& n) { return n.mark ? n.mark->by : ""; });
}
std::string reason_user_and_id(const Group& group) {
    const std::string user = reason_user(group);
    const auto id = group.view->user_ids.find(user);
    return id == group.view->user_ids.end() ? user : fmt::format("{}({})", user, id->second);
}
std::string version(const Group& group) {
    return of_first(group, "N/A", [](const Node& n) { return n.facts ? n.facts->version : ""; });
}
std::string allocated_memory(const Group& group) {
    const Node* node = first(group);
    return number(node == nullptr ? 0 : node->used_memory.value);
}

template <class Text>
std::string hosts(const Group& group, Text text) {
    std::vector<std::string> names;
    for (const Node* node : group.nodes) {
        const std::string name = text(*node);
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    return model::compress_hostlist(names);
}

// --- counts ---

struct Counts {
    std::uint64_t allocated = 0, idle = 0, other = 0;
    std::uint64_t total() const { return allocated + idle + other; }
};

Counts count_nodes(const Group& group) {
    Counts counts;
    for (const Node* node : group.nodes) {
        const model::NodeState state = model::state_of(*node);
        const bool busy = node->running_jobs > 0 || node->completing_jobs > 0;
        if (busy && !node->down) {
            ++counts.allocated;
        } else if (state == model::NodeState::Idle && node->responding) {
            ++counts.idle;
        } else {
            ++counts.other;
        }
    }
    return counts;
}

Counts count_cpus(const Group& group) {
    Counts counts;
    for (const Node* node : group.nodes) {
        const std::uint64_t all = size_of(*node).cpus;
        const std::uint64_t used = std::min<std::uint64_t>(all, node->used_cpus);
        counts.allocated += used;
        (model::accepts_jobs(*node) ? counts.idle : counts.other) += all - used;
    }
    return counts;
}

std::string four(const Counts& c) {
    return fmt::format("{}/{}/{}/{}", c.allocated, c.idle, c.other, c.total());
}

const Field<Group> kFields[] = {
    {'a', "Available", "AVAIL", kCut, availability},
    {'b', "features_act", "ACTIVE_FEATURES", kCut, active_features},
    {'c', "CPUs", "CPUS", kCut, cpus},
    {'d', "Disk", "TMP_DISK", kCut, disk},
    {'e', "FreeMem", "FREE_MEM", kCut, free_memory},
    {'f', "Features", "AVAIL_FEATURES", kCut, features},
    {'g', "Groups", "GROUPS", kCut, groups},
    {'h', "OverSubscribe", "OVERSUBSCRIBE", kCut, over_subscribe},
    {'i', "Reservation", "RESERVATION", kCut,
     [](const Group& g) { return of_first(g, "", [](const Node& n) { return n.reservation; }); }},
    {'l', "Time", "TIMELIMIT", kCut, max_time},
    {'m', "Memory", "MEMORY", kCut, memory},
    {'n', "NodeHost", "HOSTNAMES", kCut, [](const Group& g) { return hosts(g, host_name_of); }},
    {'o', "NodeAddr", "NODE_ADDR", kCut, [](const Group& g) { return hosts(g, address_of); }},
    {'p', "PriorityTier", "PRIO_TIER", kCut, partition_number<&Partition::priority_tier>},
    {'r', "Root", "ROOT", kCut,
     [](const Group& g) {
         return std::string(g.partition && g.partition->root_only ? "yes" : "no");
     }},
    {'s', "Size", "JOB_SIZE", kCut, job_size},
    {'t', "StateCompact", "STATE", kCut,
     [](const Group& g) {
         return of_first(g, "n/a", [](const Node& n) { return model::short_name(n); });
     }},
    {'u', "User", "USER", kCut, reason_user},
    {'v', "Version", "VERSION", kCut, version},
    {'w', "Weight", "WEIGHT", kCut, weight},
    {'z', "SocketCoreThread", "S:C:T", kCut, sockets_cores_threads},
    {'A', "NodeAI", "NODES(A/I)", kCut,
     [](const Group& g) {
         const Counts counts = count_nodes(g);
         return fmt::format("{}/{}", counts.allocated, counts.idle);
     }},
    {'B', "MaxCPUsPerNode", "MAX_CPUS_PER_NODE", kCut, max_cpus_per_node},
    {'C', "CPUsState", "CPUS(A/I/O/T)", kCut, [](const Group& g) { return four(count_cpus(g)); }},
    {'D', "Nodes", "NODES", kCut, [](const Group& g) { return number(g.nodes.size()); }},
    {'E', "Reason", "REASON", kCut, reason},
    {'F', "NodeAIOT", "NODES(A/I/O/T)", kCut, [](const Group& g) { return four(count_nodes(g)); }},
    {'G', "Gres", "GRES", kCut, gres},
    {'H', "TimeStamp", "TIMESTAMP", kCut, reason_time},
    {'I', "PriorityJobFactor", "PRIO_JOB_FACTOR", kCut,
     partition_number<&Partition::priority_job_factor>},
    {'L', "DefaultTime", "DEFAULTTIME", kCut, default_time},
    {'M', "PreemptMode", "PREEMPT_MODE", kCut, preempt_mode},
    {'N', "NodeList", "NODELIST", kCut,
     [](const Group& g) { return hosts(g, [](const Node& n) { return n.config.name; }); }},
    {'O', "CPUsLoad", "CPU_LOAD", kCut, cpu_load},
    {'P', "Partition", "PARTITION", kCut, marked_partition},
    {'R', "PartitionName", "PARTITION", kCut, partition_name},
    {'S', "AllocNodes", "ALLOCNODES", kCut, alloc_nodes},
    {'T', "StateLong", "STATE", kCut,
     [](const Group& g) {
         return of_first(g, "n/a", [](const Node& n) { return model::long_name(n); });
     }},
    {'U', "UserLong", "USER", kCut, reason_user_and_id},
    {'V', "Cluster", "CLUSTER", kCut, [](const Group&) { return std::string("N/A"); }},
    {'X', "Sockets", "SOCKETS", kCut, sockets},
    {'Y', "Cores", "CORES", kCut, cores},
    {'Z', "Threads", "THREADS", kCut, threads},
    {0, "Priority", "PRIO_TIER", kCut, partition_number<&Partition::priority_tier>},
    {0, "AllocMem", "ALLOCMEM", kCut, allocated_memory},
    {0, "Comment", "COMMENT", kCut,
     [](const Group& g) { return of_first(g, "(null)", [](const Node& n) { return n.comment; }); }},
    {0, "Extra", "EXTRA", kCut,
     [](const Group& g) { return of_first(g, "(null)", [](const Node& n) { return n.extra; }); }},
    {0, "GresUsed", "GRES_USED", kCut, gres_used},
    {0, "GresProtection", "GRES_PROTECTION", kCut,
     [](const Group& g) { return of_first(g, "(null)", protection_of); }},
    {0, "Port", "PORT", kCut, port},
    {0, "StateComplete", "STATECOMPLETE", kCut,
     [](const Group& g) {
         return of_first(g, "n/a", [](const Node& n) { return to_lower(model::full_state(n)); });
     }},
};

constexpr std::string_view kNames[] = {
    "AllocMem",
    "AllocNodes",
    "Available",
    "Cluster",
    "Comment",
    "Cores",
    "CPUs",
    "CPUsLoad",
    "CPUsState",
    "DefaultTime",
    "Disk",
    "Extra",
    "Features",
    "features_act",
    "FreeMem",
    "Gres",
    "GresUsed",
    "Groups",
    "MaxCPUsPerNode",
    "Memory",
    "NodeAddr",
    "NodeAI",
    "NodeAIOT",
    "NodeHost",
    "NodeList",
    "Nodes",
    "OverSubscribe",
    "Partition",
    "PartitionName",
    "Port",
    "PreemptMode",
    "PriorityJobFactor",
    "PriorityTier",
    "Reason",
    "Reservation",
    "Root",
    "Size",
    "Sockets",
    "SocketCoreThread",
    "StateCompact",
    "StateComplete",
    "StateLong",
    "Threads",
    "Time",
    "TimeStamp",
    "User",
    "UserLong",
    "Version",
    "Weight",
};

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
}

}  // namespace

std::span<const Field<NodeGroup>> node_fields() { return kFields; }

Grouping grouping_of(const Field<NodeGroup>& field) {
    if (is_one_of(field.name,
                  {"Available", "Groups", "OverSubscribe", "Time", "PriorityTier", "Priority",
                   "Root", "Size", "MaxCPUsPerNode", "PriorityJobFactor", "DefaultTime",
                   "PreemptMode", "Partition", "PartitionName", "AllocNodes"})) {
        return Grouping::Partition;
    }
    if (is_one_of(field.name,
                  {"features_act", "Features", "NodeHost", "NodeAddr", "StateCompact", "StateLong",
                   "StateComplete", "User", "UserLong", "TimeStamp", "Version", "Reason", "Gres",
                   "GresUsed", "GresProtection", "AllocMem", "Comment", "Extra", "Reservation"})) {
        return Grouping::Node;
    }
    if (is_one_of(field.name, {"CPUs", "Disk", "FreeMem", "Memory", "Weight", "SocketCoreThread",
                               "CPUsLoad", "Sockets", "Cores", "Threads", "Port"})) {
        return Grouping::Size;
    }
    return Grouping::None;
}

std::uint32_t state_rank(const Node& node) {
    constexpr std::uint32_t kReserved = 0x20, kDrain = 0x200, kCompleting = 0x400, kSilent = 0x800;
    std::uint32_t rank = 2;  // Idle.
    if (model::state_of(node) == model::NodeState::Future) return 6;
    if (node.down) {
        rank = 1;
    } else if (node.running_jobs > 0) {
        const bool full = node.exclusive || node.used_cpus >= size_of(node).cpus;
        rank = full ? 3 : 5;
    }
    if (!node.reservation.empty()) rank |= kReserved;
    if (node.drain) rank |= kDrain;
    if (node.completing_jobs > 0) rank |= kCompleting;
    if (!node.responding) rank |= kSilent;
    return rank;
}

std::vector<Column> all_node_columns() {
    std::vector<Column> columns;
    for (const Field<NodeGroup>& field : kFields) {
        if (field.letter == 0) continue;
        Column column;
        column.field = field.letter;
        const bool upper = field.letter >= 'A' && field.letter <= 'Z';
        column.suffix = upper ? " |" : "|";
        columns.push_back(std::move(column));
    }
    columns.back().suffix = " ";
    return columns;
}

std::span<const std::string_view> node_field_names() { return kNames; }

}  // namespace switchyard::view
