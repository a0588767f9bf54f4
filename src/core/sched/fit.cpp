// fit.cpp: the arithmetic of one node and one shape.

#include "core/sched/fit.hpp"

#include <algorithm>

namespace switchyard::core::sched {
namespace {

using Per = model::MemoryRequest::Per;

std::uint32_t divide_up(std::uint64_t a, std::uint64_t b) {
    return static_cast<std::uint32_t>((a + b - 1) / b);
}

std::uint32_t threads_used(const NodeEntry& node, const Shape& shape) {
    if (shape.threads_per_core == 0) return node.threads;
    return std::max(1u, std::min(node.threads, shape.threads_per_core));
}

// What a job that takes whole nodes may use of one.
std::uint32_t usable_cores(const NodeEntry& node, const Shape& shape) {
    return node.cores - std::min(node.cores, shape.core_spec);
}

bool matches(const GresPool& pool, const GresNeed& need) {
    return pool.name == need.name && (need.type.empty() || pool.type == need.type);
}

std::uint64_t available(const NodeEntry& node, const Room& room, const GresNeed& need) {
    std::uint64_t total = 0;
    for (std::size_t at = 0; at < node.pools.size(); ++at) {
        if (matches(node.pools[at], need)) total += room.gres[at];
    }
    return total;
}

std::uint32_t sockets_used(const NodeEntry& node, const Shape& shape) {
    return shape.sockets_min > 0 ? std::min(shape.sockets_min, node.sockets) : 1u;
}

// Whether exactly `tasks` tasks find all they need in the room, cards of the job-wide count aside.
bool holds(const NodeEntry& node, const Room& room, const Shape& shape, std::uint32_t tasks,
           Selection::Unit unit, std::uint32_t cores_free) {
    const std::uint64_t gpus = gpus_on_node(node, shape, tasks, 0);
    const std::uint32_t cores = cores_for(node, shape, tasks, gpus, unit);
    if (cores > cores_free) return false;
    if (!shape.whole_nodes && std::uint64_t{cores} * node.threads > shape.cpus_per_node_max)
        return false;
    if (memory_for(node, shape, cores, gpus) > room.memory) return false;
    for (const GresNeed& need : shape.gres_per_node) {
        if (available(node, room, need) < need.count) return false;
    }
    for (const GresNeed& need : shape.gres_per_task) {
        if (available(node, room, need) < need.count * tasks) return false;
    }
    for (const GresNeed& need : shape.gres_per_socket) {
        if (available(node, room, need) < need.count * sockets_used(node, shape)) return false;
    }
    return true;
}

std::uint32_t most_tasks(const NodeEntry& node, const Shape& shape, std::uint32_t cores_free) {
    if (shape.tasks_by_node) return shape.tasks;
    std::uint64_t most = std::min(shape.tasks, shape.tasks_per_node_max);
    if (!shape.overcommit) {
        most = std::min<std::uint64_t>(
            most, std::uint64_t{cores_free} * threads_used(node, shape) / shape.cpus_per_task);
    }
    if (shape.tasks_per_core > 0) {
        most = std::min<std::uint64_t>(most, std::uint64_t{cores_free} * shape.tasks_per_core);
    }
    if (shape.tasks_per_socket > 0) {
        most = std::min<std::uint64_t>(most, std::uint64_t{node.sockets} * shape.tasks_per_socket);
    }
    return static_cast<std::uint32_t>(most);
}

// What every node of such a job must have free, however many tasks it gets.
Least least_of(const Shape& shape, std::uint32_t cpus_min, std::uint32_t tasks) {
    Least least;
    least.idle = shape.whole_nodes;
    if (shape.memory_per == Per::Node) least.memory = shape.memory;
    if (shape.memory_per == Per::Cpu) least.memory = shape.memory * cpus_min;
    for (const GresNeed& need : shape.gres_per_node) {
        if (need.name == "gpu") least.gpus += static_cast<std::uint32_t>(need.count);
    }
    for (const GresNeed& need : shape.gres_per_task)
        least.gpus += static_cast<std::uint32_t>(need.count * tasks);
    if (!shape.gpus_per_job.empty()) least.gpus = std::max(1u, least.gpus);
    return least;
}

}  // namespace

Demand make_demand(Shape shape, const NodePool& pool) {
    Demand demand;
    if (!shape.constraint.empty()) {
        if (auto parsed = model::Constraint::parse(shape.constraint)) {
            demand.constraint = *parsed;
        } else {
            demand.impossible = true;
        }
    }
    if (!shape.prefer.empty()) {
        // Preferred and required at once; one that nobody can read is no preference.
        std::string both = shape.prefer;
        if (!shape.constraint.empty()) both = "(" + shape.constraint + ")&(" + both + ")";
        if (auto parsed = model::Constraint::parse(both)) demand.preferred = *parsed;
    }
    for (const std::string& name : shape.required) {
        if (const auto node = pool.find(name)) {
            demand.required.push_back(*node);
        } else {
            demand.impossible = true;
        }
    }
    for (const std::string& name : shape.excluded) {
        if (const auto node = pool.find(name)) demand.excluded.push_back(*node);
    }
    std::ranges::sort(demand.required);
    std::ranges::sort(demand.excluded);
    const std::uint32_t tasks = shape.tasks_by_node ? shape.tasks : 1;
    demand.cpus_min =
        std::max(shape.cpus_per_node_min,
                 shape.overcommit ? shape.cpus_per_task : shape.cpus_per_task * tasks);
    demand.least = least_of(shape, demand.cpus_min, tasks);
    demand.shape = std::move(shape);
    return demand;
}

std::uint32_t least_cores(const Demand& demand, const NodePool& pool) {
    return divide_up(demand.cpus_min, pool.threads_max());
}

std::uint64_t least_cores_in_all(const Demand& demand, const NodePool& pool) {
    const Shape& shape = demand.shape;
    const std::uint64_t nodes = std::uint64_t{shape.nodes_min} * least_cores(demand, pool);
    if (shape.overcommit) return nodes;
    const std::uint64_t cpus =
        std::uint64_t{shape.total_tasks(shape.nodes_min)} * shape.cpus_per_task;
    return std::max<std::uint64_t>(nodes, divide_up(cpus, pool.threads_max()));
}

void FitSum::add(const Fit& fit, std::uint64_t count) {
    nodes += count;
    tasks += fit.tasks * count;
    for (std::size_t kind = 0; kind < kGpuKindsMax; ++kind) gpus[kind] += fit.gpus[kind] * count;
}

bool FitSum::enough_for(const Shape& shape) const {
    if (nodes < shape.nodes_min) return false;
    if (!shape.tasks_by_node && tasks < shape.tasks && !shape.overcommit) return false;
    for (std::size_t kind = 0; kind < std::min(kGpuKindsMax, shape.gpus_per_job.size()); ++kind) {
        if (gpus[kind] < shape.gpus_per_job[kind].count) return false;
    }
    return true;
}

std::uint32_t shareable_cores(const NodeEntry& node, std::uint32_t share) {
    std::uint32_t count = 0;
    for (std::uint32_t core = 0; core < node.cores; ++core) {
        if (!node.core_alone[core] && node.core_holders[core] < share) ++count;
    }
    return count;
}

Room empty_room(const NodeEntry& node) {
    Room room;
    room.cores = node.cores;
    room.memory = node.memory;
    for (std::size_t at = 0; at < node.pools.size(); ++at) {
        room.gres[at] = static_cast<std::uint32_t>(node.pools[at].total);
    }
    return room;
}

std::uint32_t cores_for(const NodeEntry& node, const Shape& shape, std::uint32_t tasks,
                        std::uint64_t gpus, Selection::Unit unit) {
    const std::uint64_t work = std::uint64_t{shape.cpus_per_task} * (shape.overcommit ? 1 : tasks);
    const std::uint64_t cpus =
        std::max<std::uint64_t>({work, shape.cpus_per_node_min, gpus * shape.cpus_per_gpu, 1});
    std::uint32_t cores = divide_up(cpus, threads_used(node, shape));
    if (shape.tasks_per_core > 0) cores = std::max(cores, divide_up(tasks, shape.tasks_per_core));
    if (unit == Selection::Unit::Socket && node.sockets > 0) {
        const std::uint32_t per_socket = std::max(1u, node.cores / node.sockets);
        cores = divide_up(cores, per_socket) * per_socket;
    }
    // Whole nodes are granted whole, but they must be large enough.
    return shape.whole_nodes ? std::max(usable_cores(node, shape), cores) : cores;
}

std::uint64_t memory_for(const NodeEntry& node, const Shape& shape, std::uint32_t cores,
                         std::uint64_t gpus) {
    switch (shape.memory_per) {
        case Per::Unset:
            return 0;
        case Per::Node:
            return shape.memory == 0 ? node.memory : shape.memory;
        case Per::Cpu:
            return shape.memory * cores * node.threads;
        case Per::Gpu:
            return shape.memory * gpus;
    }
    return 0;
}

std::uint64_t gpus_on_node(const NodeEntry& node, const Shape& shape, std::uint32_t tasks,
                           std::uint64_t job_gpus) {
    std::uint64_t total = job_gpus;
    for (const GresNeed& need : shape.gres_per_node) {
        if (need.name == "gpu") total += need.count;
    }
    for (const GresNeed& need : shape.gres_per_task) total += need.count * tasks;
    for (const GresNeed& need : shape.gres_per_socket)
        total += need.count * sockets_used(node, shape);
    return total;
}

std::vector<GresNeed> gres_for(const NodeEntry& node, const Shape& shape, std::uint32_t tasks,
                               const std::array<std::uint32_t, kGpuKindsMax>& job_gpus) {
    std::vector<GresNeed> needs = shape.gres_per_node;
    for (GresNeed need : shape.gres_per_task) {
        need.count *= tasks;
        needs.push_back(std::move(need));
    }
    for (GresNeed need : shape.gres_per_socket) {
        need.count *= sockets_used(node, shape);
        needs.push_back(std::move(need));
    }
    for (std::size_t kind = 0; kind < std::min(shape.gpus_per_job.size(), kGpuKindsMax); ++kind) {
        if (job_gpus[kind] == 0) continue;
        needs.push_back(
            {shape.gpus_per_job[kind].name, shape.gpus_per_job[kind].type, job_gpus[kind]});
    }
    return needs;
}

bool is_candidate(const NodeEntry& node, NodeIndex index, const Demand& demand) {
    const Shape& shape = demand.shape;
    if (!demand.excluded.empty() && std::ranges::binary_search(demand.excluded, index))
        return false;
    if (shape.sockets_min > node.sockets) return false;
    if (shape.cores_per_socket_min > node.cores / std::max(1u, node.sockets)) return false;
    if (shape.threads_min > node.threads) return false;
    if (shape.tmp_disk > node.tmp_disk) return false;
    return demand.constraint.empty() || demand.constraint.matches(node.features);
}

Fit fit(const NodeEntry& node, const Room& room, const Demand& demand, Selection::Unit unit) {
    const Shape& shape = demand.shape;
    Fit result;
    if (shape.whole_nodes && room.holders > 0) return result;
    std::uint32_t cores_free =
        shape.share > 1 ? std::max(room.cores, shareable_cores(node, shape.share)) : room.cores;
    cores_free = std::min(cores_free, room.cores_max);
    if (shape.core_spec > 0) cores_free = std::min(cores_free, usable_cores(node, shape));
    const std::uint32_t most =
        most_tasks(node, shape, shape.whole_nodes ? usable_cores(node, shape) : cores_free);
    const std::uint32_t least = shape.tasks_by_node ? shape.tasks : 1;
    if (most < least || !holds(node, room, shape, least, unit, cores_free)) return result;
    std::uint32_t good = least, bad = most + 1;
    if (bad - good > 1 && holds(node, room, shape, most, unit, cores_free)) good = most;
    while (bad - good > 1) {
        const std::uint32_t middle = good + (bad - good) / 2;
        (holds(node, room, shape, middle, unit, cores_free) ? good : bad) = middle;
    }
    result.tasks = good;
    for (std::size_t kind = 0; kind < std::min(shape.gpus_per_job.size(), kGpuKindsMax); ++kind) {
        std::uint64_t cards = available(node, room, shape.gpus_per_job[kind]);
        if (shape.cpus_per_gpu > 0) {
            cards = std::min<std::uint64_t>(
                cards, std::uint64_t{cores_free} * threads_used(node, shape) / shape.cpus_per_gpu);
        }
        if (shape.memory_per == Per::Gpu && shape.memory > 0)
            cards = std::min(cards, room.memory / shape.memory);
        result.gpus[kind] = static_cast<std::uint32_t>(cards);
    }
    if (!shape.gpus_per_job.empty() &&
        std::ranges::all_of(result.gpus, [](auto n) { return n == 0; })) {
        result.tasks = 0;
    }
    return result;
}

}  // namespace switchyard::core::sched
