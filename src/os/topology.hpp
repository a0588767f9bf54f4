// topology.hpp: sockets, cores, hardware threads and memory of this machine, as hwloc sees them.
//
// Costs some milliseconds: the agent asks once, when it starts. Only what this process may use is
// counted (a container's cpuset, an outer cgroup).
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "model/index_set.hpp"
#include "model/size_format.hpp"

namespace switchyard::os {

struct Topology {
    std::uint32_t sockets = 1;
    std::uint32_t cores_per_socket = 1;
    std::uint32_t threads_per_core = 1;
    std::vector<model::IndexSet> core_cpus;  // By core number: the operating system's cpu numbers.
    model::MiB memory;

    std::uint32_t cpus() const;
    std::uint32_t cores() const { return static_cast<std::uint32_t>(core_cpus.size()); }
};

Result<Topology> find_topology();

// Of one cpu, as the kernel tells; 0 where it does not. A file or two: for those who bind.
std::uint32_t socket_of_cpu(std::uint32_t cpu);
std::uint32_t domain_of_cpu(std::uint32_t cpu);

// The cpus of these cores; nothing if one of them does not exist here.
model::IndexSet cpus_of_cores(const std::vector<model::IndexSet>& core_cpus,
                              const model::IndexSet& cores);

}  // namespace switchyard::os
