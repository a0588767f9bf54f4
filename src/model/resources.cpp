#include "model/resources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

namespace switchyard::model {
namespace {

// Totals by the name that TRES gives them: "gpu" for all, "gpu:rtx4000" for those of a type. Shares
// of a card (shard, mps) are told without the type, as Slurm does.
std::map<std::string, std::uint64_t> gres_totals(const std::vector<GresGrant>& gres) {
    std::map<std::string, std::uint64_t> totals;
    for (const GresGrant& grant : gres) {
        if (grant.count == 0) continue;
        totals[grant.name] += grant.count;
        const bool shared = grant.name == "shard" || grant.name == "mps";
        if (!grant.type.empty() && !shared) totals[grant.name + ":" + grant.type] += grant.count;
    }
    return totals;
}

std::string format_parts(std::uint64_t cpus, MiB memory, std::uint64_t nodes, bool with_billing,
                         const std::vector<GresGrant>& gres) {
    std::string out;
    const auto add = [&](std::string_view name, std::string_view amount) {
        fmt::format_to(std::back_inserter(out), "{}{}={}", out.empty() ? "" : ",", name, amount);
    };
    if (cpus > 0) add("cpu", fmt::to_string(cpus));
    if (memory.value > 0) add("mem", format_memory(memory));
    if (nodes > 0) add("node", fmt::to_string(nodes));
    if (with_billing && cpus > 0) add("billing", fmt::to_string(cpus));
    for (const auto& [name, count] : gres_totals(gres)) {
        add("gres/" + name, fmt::to_string(count));
    }
    return out;
}

}  // namespace

std::uint32_t Allocation::cpus() const {
    std::uint32_t sum = 0;
    for (const NodeGrant& grant : nodes) sum += grant.cpus;
    return sum;
}

MiB Allocation::memory() const {
    MiB sum;
    for (const NodeGrant& grant : nodes) sum += grant.memory;
    return sum;
}

std::vector<std::string> Allocation::node_names() const {
    std::vector<std::string> names;
    names.reserve(nodes.size());
    for (const NodeGrant& grant : nodes) names.push_back(grant.node);
    return names;
}

const NodeGrant* Allocation::find(std::string_view node) const {
    const auto found = std::ranges::find(nodes, node, &NodeGrant::node);
    return found == nodes.end() ? nullptr : &*found;
}

std::string compress_counts(const std::vector<std::uint32_t>& counts) {
    std::string out;
    for (auto at = counts.begin(); at != counts.end();) {
        const auto end = std::find_if(at, counts.end(), [&](std::uint32_t c) { return c != *at; });
        fmt::format_to(std::back_inserter(out), "{}{}", out.empty() ? "" : ",", *at);
        if (end - at > 1) fmt::format_to(std::back_inserter(out), "(x{})", end - at);
        at = end;
    }
    return out;
}

std::vector<std::uint32_t> cpus_per_node(const Allocation& allocation) {
    std::vector<std::uint32_t> counts;
    counts.reserve(allocation.nodes.size());
    for (const NodeGrant& grant : allocation.nodes) counts.push_back(grant.cpus);
    return counts;
}

std::vector<std::uint32_t> tasks_per_node(const Allocation& allocation) {
    std::vector<std::uint32_t> counts;
    counts.reserve(allocation.nodes.size());
    for (const NodeGrant& grant : allocation.nodes) counts.push_back(grant.tasks);
    return counts;
}

std::string format_tres(std::uint64_t cpus, MiB memory, std::uint64_t nodes,
                        const std::vector<GresGrant>& gres) {
    return format_parts(cpus, memory, nodes, true, gres);
}

std::string format_tres(const Allocation& allocation) {
    std::vector<GresGrant> gres;
    for (const NodeGrant& grant : allocation.nodes) {
        gres.insert(gres.end(), grant.gres.begin(), grant.gres.end());
    }
    return format_tres(allocation.cpus(), allocation.memory(), allocation.nodes.size(), gres);
}

std::string format_node_tres(std::uint64_t cpus, MiB memory, const std::vector<GresGrant>& gres,
                             bool with_billing) {
    return format_parts(cpus, memory, 0, with_billing, gres);
}

}  // namespace switchyard::model
