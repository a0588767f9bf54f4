#include "core/cluster/memory_limits.hpp"

#include <algorithm>

#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {
namespace {

using Per = model::MemoryRequest::Per;

// Of the two keys only one counts, as of the two places.
std::optional<model::MemoryRequest> limit_of(const model::Partition& partition,
                                             const Settings& settings) {
    if (partition.max_mem_per_cpu)
        return model::MemoryRequest{Per::Cpu, *partition.max_mem_per_cpu};
    if (partition.max_mem_per_node)
        return model::MemoryRequest{Per::Node, *partition.max_mem_per_node};
    if (settings.max_mem_per_cpu) return model::MemoryRequest{Per::Cpu, *settings.max_mem_per_cpu};
    if (settings.max_mem_per_node)
        return model::MemoryRequest{Per::Node, *settings.max_mem_per_node};
    return std::nullopt;
}

// The fewest CPUs that the job will have on a node.
std::uint64_t cpus_on_a_node(const model::JobSpec& spec) {
    const std::uint64_t work = std::uint64_t{std::max(1u, spec.tasks_per_node.value_or(1))} *
                               std::max(1u, spec.cpus_per_task.value_or(1));
    return std::max<std::uint64_t>(work, spec.cpus_per_node_min.value_or(1));
}

std::uint64_t divide_up(std::uint64_t amount, std::uint64_t by) { return (amount + by - 1) / by; }

std::uint32_t clamp(std::uint64_t count) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, UINT32_MAX));
}

}  // namespace

void fit_memory_limit(model::JobSpec& spec, const model::Partition& partition,
                      const Settings& settings) {
    const auto limit = limit_of(partition, settings);
    if (!limit || spec.memory.per == Per::Gpu) return;
    if (spec.memory.per == Per::Unset || spec.memory.amount.value == 0) {
        spec.memory = *limit;
        return;
    }
    if (limit->per != Per::Cpu) return;
    const std::uint64_t most = limit->amount.value;
    std::uint64_t& wanted = spec.memory.amount.value;
    if (spec.memory.per == Per::Cpu && wanted > most) {
        const std::uint64_t ratio = divide_up(wanted, most);
        spec.cpus_per_task = clamp(std::max(1u, spec.cpus_per_task.value_or(1)) * ratio);
        wanted = divide_up(wanted, ratio);
    } else if (spec.memory.per == Per::Node && wanted > most * cpus_on_a_node(spec)) {
        spec.cpus_per_node_min = clamp(divide_up(wanted, most));
    }
}

bool exceeds_memory(const model::JobSpec& spec, const model::Partition& partition,
                    const Settings& settings) {
    const auto limit = limit_of(partition, settings);
    if (!limit || spec.memory.per == Per::Unset || spec.memory.per == Per::Gpu) return false;
    const std::uint64_t wanted = spec.memory.amount.value, most = limit->amount.value;
    if (limit->per == spec.memory.per) return wanted > most;
    const std::uint64_t cpus = cpus_on_a_node(spec);
    return limit->per == Per::Cpu ? wanted > most * cpus : wanted * cpus > most;
}

// By the first partition: it is the one that a job of several is made for.
void Cluster::Impl::limit_memory(JobSpec& spec) const {
    fit_memory_limit(spec, partitions_[*partition_index(spec.partitions.front())], settings_);
}

}  // namespace switchyard::core
