#include "os/topology.hpp"

#include <fmt/format.h>
#include <hwloc.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.hpp"
#include "os/files.hpp"
#include "os/machine.hpp"

namespace switchyard::os {
namespace {

model::IndexSet cpus_of(hwloc_obj_t object) {
    model::IndexSet cpus;
    int cpu = -1;
    while ((cpu = hwloc_bitmap_next(object->cpuset, cpu)) >= 0) {
        cpus.insert(static_cast<std::uint32_t>(cpu));
    }
    return cpus;
}

Topology read(hwloc_topology_t from) {
    Topology found;
    const int sockets = hwloc_get_nbobjs_by_type(from, HWLOC_OBJ_PACKAGE);
    const int cores = hwloc_get_nbobjs_by_type(from, HWLOC_OBJ_CORE);
    // Some virtual machines show no cores: then every hardware thread is one.
    const hwloc_obj_type_t type = cores > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
    const int count = hwloc_get_nbobjs_by_type(from, type);
    for (int i = 0; i < count; ++i) {
        found.core_cpus.push_back(
            cpus_of(hwloc_get_obj_by_type(from, type, static_cast<unsigned>(i))));
        found.threads_per_core = std::max(
            found.threads_per_core, static_cast<std::uint32_t>(found.core_cpus.back().size()));
    }
    found.sockets = static_cast<std::uint32_t>(std::max(sockets, 1));
    found.cores_per_socket = std::max(found.cores() / found.sockets, 1u);
    return found;
}

}  // namespace

std::uint32_t Topology::cpus() const {
    std::uint32_t sum = 0;
    for (const model::IndexSet& cpus : core_cpus) sum += static_cast<std::uint32_t>(cpus.size());
    return sum;
}

Result<Topology> find_topology() {
    hwloc_topology_t topology = nullptr;
    if (hwloc_topology_init(&topology) != 0) return fail(Errc::Internal, "hwloc does not start");
    // Caches, devices and the like cost time and tell nothing that is needed here.
    hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(topology, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL);
    hwloc_topology_set_type_filter(topology, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (hwloc_topology_load(topology) != 0) {
        hwloc_topology_destroy(topology);
        return fail(Errc::Internal, "hwloc cannot read this machine's topology");
    }
    Topology found = read(topology);
    hwloc_topology_destroy(topology);
    if (found.core_cpus.empty()) return fail(Errc::Internal, "hwloc found no processors");
    found.memory = total_memory();
    return found;
}

std::uint32_t socket_of_cpu(std::uint32_t cpu) {
    const auto text =
        read_file(fmt::format("/sys/devices/system/cpu/cpu{}/topology/physical_package_id", cpu));
    const auto number = text ? parse_uint(trim(*text)) : std::nullopt;
    return number ? static_cast<std::uint32_t>(*number) : 0;
}

std::uint32_t domain_of_cpu(std::uint32_t cpu) {
    constexpr std::uint32_t kDomainsMax = 1024;
    for (std::uint32_t domain = 0; domain < kDomainsMax; ++domain) {
        const std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}/node{}", cpu, domain);
        if (::access(folder.c_str(), F_OK) == 0) return domain;
    }
    return 0;
}

model::IndexSet cpus_of_cores(const std::vector<model::IndexSet>& core_cpus,
                              const model::IndexSet& cores) {
    model::IndexSet cpus;
    if (cores.empty() || cores.back() >= core_cpus.size()) return cpus;
    for (const std::uint32_t core : cores.to_vector()) cpus.insert(core_cpus[core]);
    return cpus;
}

}  // namespace switchyard::os
