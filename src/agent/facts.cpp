#include "agent/facts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/version.hpp"
#include "os/machine.hpp"

namespace switchyard::agent {
namespace {

std::string host_of(const model::NodeConfig& node) {
    return node.host_name.empty() ? node.name : node.host_name;
}

std::uint32_t or_real(std::uint32_t configured, std::uint32_t real) {
    return configured != 0 ? configured : real;
}

// Cores a configured node has; a node that says only CPUs has as many cores.
std::uint32_t cores_of(const model::NodeConfig& node, const os::Topology& topology) {
    if (node.cores() > 0) return node.cores();
    const std::uint32_t threads = or_real(node.threads_per_core, 1);
    return node.cpus > 0 ? node.cpus / threads : topology.cores();
}

}  // namespace

bool is_pretend(const model::NodeConfig& node) {
    return !node.host_name.empty() && node.host_name != node.name;
}

Result<std::optional<model::NodeConfig>> find_node(const config::Config& config,
                                                   const std::string& wanted,
                                                   const std::string& host) {
    std::optional<model::NodeConfig> found;
    for (const model::NodeConfig& node : config.nodes) {
        const std::string on = host_of(node);
        const bool matches =
            wanted.empty() ? on.substr(0, on.find('.')) == host : node.name == wanted;
        if (!matches) continue;
        if (found) {
            return fail(Errc::InvalidArgument,
                        fmt::format("nodes {} and {} are both on host {}: say which with -N",
                                    found->name, node.name, host));
        }
        found = node;
    }
    if (!wanted.empty() && !found) {
        return fail(Errc::NotFound, fmt::format("node {} is not in {}", wanted, config.path));
    }
    return found;
}

model::NodeFacts make_facts(const config::Config& config, const model::NodeConfig& node,
                            const os::Topology& topology, const std::string& containment) {
    model::NodeFacts facts;
    facts.host_name = os::host_name();
    facts.address = node.address;
    facts.arch = os::architecture();
    facts.os = os::operating_system();
    facts.version = std::string(kSlurmRelease);
    facts.cpus = topology.cpus();
    facts.sockets = topology.sockets;
    facts.cores_per_socket = topology.cores_per_socket;
    facts.threads_per_core = topology.threads_per_core;
    facts.memory = topology.memory;
    if (is_pretend(node)) {
        facts.cpus = or_real(node.cpus, facts.cpus);
        facts.sockets = or_real(node.sockets, 1);
        facts.threads_per_core = or_real(node.threads_per_core, 1);
        facts.cores_per_socket =
            or_real(node.cores_per_socket,
                    std::max(facts.cpus / facts.sockets / facts.threads_per_core, 1u));
        if (node.memory.value != 0) facts.memory = node.memory;
    }
    facts.free_memory = os::free_memory();
    facts.cpu_load = os::load_average();
    facts.tmp_disk = os::disk_size(config.tmp_fs);
    facts.booted = os::booted_at();
    facts.agent_started = os::now();
    facts.containment = containment;
    facts.gres = node.gres;
    return facts;
}

std::vector<model::IndexSet> place_cores(const config::Config& config,
                                         const model::NodeConfig& node,
                                         const os::Topology& topology) {
    std::uint32_t before = 0, total = 0;
    bool passed = false;
    for (const model::NodeConfig& other : config.nodes) {
        if (host_of(other) != host_of(node)) continue;
        passed = passed || other.name == node.name;
        const std::uint32_t cores = cores_of(other, topology);
        total += cores;
        if (!passed) before += cores;
    }
    if (total > topology.cores()) return {};
    const auto first = topology.core_cpus.begin() + before;
    return {first, first + cores_of(node, topology)};
}

std::string hardware_lines(const std::string& host, const os::Topology& topology, Seconds up) {
    const auto days = up.count() / 86400;
    const auto rest = up.count() % 86400;
    return fmt::format(
        "NodeName={} CPUs={} Boards=1 SocketsPerBoard={} CoresPerSocket={} ThreadsPerCore={} "
        "RealMemory={}\n"
        "UpTime={}-{:02}:{:02}:{:02}\n",
        host, topology.cpus(), topology.sockets, topology.cores_per_socket,
        topology.threads_per_core, topology.memory.value, days, rest / 3600, rest / 60 % 60,
        rest % 60);
}

}  // namespace switchyard::agent
