#include "view/node/node_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace switchyard::view {
namespace {

template <class Value>
Value first_set(Value configured, Value found) {
    return configured != Value{} ? configured : found;
}

}  // namespace

NodeSize size_of(const model::Node& node) {
    const model::NodeConfig& config = node.config;
    static const model::NodeFacts kNone;
    const model::NodeFacts& facts = node.facts ? *node.facts : kNone;
    NodeSize size;
    size.cpus = first_set(config.cpus, facts.cpus);
    size.memory = first_set(config.memory, facts.memory);
    size.tmp_disk = config.tmp_disk;
    size.threads_per_core = std::max(1U, first_set(config.threads_per_core, 0U));
    if (config.sockets != 0 || config.cores_per_socket != 0) {
        size.sockets = std::max(1U, config.sockets);
        size.cores_per_socket = std::max(1U, config.cores_per_socket);
    } else if (config.cpus != 0) {
        // Only CPUs= was given: one socket of them.
        size.cores_per_socket = std::max(1U, config.cpus / size.threads_per_core);
    } else {
        size.sockets = std::max(1U, facts.sockets);
        size.cores_per_socket = std::max(1U, facts.cores_per_socket);
        size.threads_per_core = std::max(1U, facts.threads_per_core);
    }
    if (size.cpus == 0) size.cpus = size.sockets * size.cores_per_socket * size.threads_per_core;
    return size;
}

const std::vector<model::GresInventory>& gres_of(const model::Node& node) {
    return node.config.gres.empty() && node.facts ? node.facts->gres : node.config.gres;
}

std::string protection_of(const model::Node& node) {
    std::string text;
    for (const model::GresInventory& entry : node.facts ? node.facts->gres : node.config.gres) {
        if (entry.protection.empty()) continue;
        text += fmt::format("{}{}:{}", text.empty() ? "" : ",", entry.name, entry.protection);
    }
    return text;
}

std::string host_name_of(const model::Node& node) {
    if (!node.config.host_name.empty()) return node.config.host_name;
    if (node.facts && !node.facts->host_name.empty()) return node.facts->host_name;
    return node.config.name;
}

std::string address_of(const model::Node& node) {
    if (!node.config.address.empty()) return node.config.address;
    return host_name_of(node);
}

std::vector<model::GresGrant> as_grants(const std::vector<model::GresInventory>& inventory) {
    std::vector<model::GresGrant> grants;
    for (const model::GresInventory& entry : inventory) {
        model::GresGrant grant;
        grant.name = entry.name;
        grant.type = entry.type;
        grant.count = entry.count;
        grants.push_back(std::move(grant));
    }
    return grants;
}

PartitionTotals totals_of(const model::Partition& partition,
                          const std::vector<model::Node>& nodes) {
    const std::set<std::string_view> members(partition.nodes.begin(), partition.nodes.end());
    PartitionTotals totals;
    for (const model::Node& node : nodes) {
        if (!members.contains(node.config.name)) continue;
        const NodeSize size = size_of(node);
        ++totals.nodes;
        totals.cpus += size.cpus;
        totals.memory += size.memory;
        model::add_grants(totals.gres, as_grants(gres_of(node)));
    }
    return totals;
}

std::optional<Instant> last_busy(const model::Node& node) {
    if (node.last_busy || !node.facts) return node.last_busy;
    return node.facts->agent_started;
}

std::string over_subscribe_text(const model::Partition& partition) {
    switch (partition.over_subscribe) {
        case model::Partition::OverSubscribe::No:
            return "NO";
        case model::Partition::OverSubscribe::Exclusive:
            return "EXCLUSIVE";
        case model::Partition::OverSubscribe::Yes:
            return fmt::format("YES:{}", partition.over_subscribe_count);
        case model::Partition::OverSubscribe::Force:
            return fmt::format("FORCE:{}", partition.over_subscribe_count);
    }
    return "NO";
}

}  // namespace switchyard::view
