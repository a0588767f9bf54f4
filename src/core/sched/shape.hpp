// shape.hpp: what a job needs, reduced to what decides where it fits. Two jobs of equal shape are
// interchangeable to the scheduler, so the queue tries a shape once and not each job.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/sched/selection.hpp"
#include "model/job_spec.hpp"
#include "model/partition.hpp"

namespace switchyard::core::sched {

inline constexpr std::uint32_t kNoLimit = std::numeric_limits<std::uint32_t>::max();

struct GresNeed {
    std::string name, type;  // An empty type: any.
    std::uint64_t count = 0;
    auto operator<=>(const GresNeed&) const = default;
};

struct Shape {
    // Nodes and tasks. `spread`: a node count was asked for, else as few nodes as the tasks need.
    std::uint32_t nodes_min = 1, nodes_max = kNoLimit;
    bool spread = false;
    std::uint32_t tasks = 1;  // In all; with `tasks_by_node`, on each node.
    bool tasks_by_node = false;
    bool tasks_open = false;  // No number of tasks was given: each node has one at least.
    std::uint32_t tasks_per_node_max = kNoLimit;
    std::uint32_t tasks_per_core = 0;  // 0: no rule.
    std::uint32_t tasks_per_socket = 0;

    std::uint32_t cpus_per_task = 1;
    std::uint32_t cpus_per_node_min = 1, cpus_per_node_max = kNoLimit;
    std::uint32_t threads_per_core = 0;  // How many threads of a core it uses; 0: all.
    std::uint32_t sockets_min = 0, cores_per_socket_min = 0, threads_min = 0;

    model::MemoryRequest::Per memory_per = model::MemoryRequest::Per::Unset;
    std::uint64_t memory = 0;  // MiB; per node and 0: all of it.
    std::uint64_t tmp_disk = 0;

    std::vector<GresNeed> gres_per_node, gres_per_task, gres_per_socket, gpus_per_job;
    std::uint32_t cpus_per_gpu = 0;

    bool whole_nodes = false;
    bool overcommit = false;
    bool contiguous = false;
    std::uint32_t share = 1;  // How many jobs may hold the same core; 1: this one alone.
    bool single_user = false;
    std::uint32_t uid = 0;  // Only with single_user.

    std::string constraint, prefer;
    std::vector<std::string> required, excluded;
    bool fewest_nodes = false;     // Of a range of counts, the smallest that holds it.
    std::uint32_t core_spec = 0;   // Cores of each node that are left to the system.
    std::uint32_t only_job = 0;    // A heterogeneous job is like no other.
    std::int64_t seconds_min = 0;  // --time-min; 0: the limit is not to be reduced.
    // BackfillReservations it may run in, in the order they are tried; 0: outside. Empty: only
    // outside.
    std::vector<std::uint32_t> owners;
    std::string licenses;  // As asked for.

    auto operator<=>(const Shape&) const = default;

    std::uint32_t total_tasks(std::uint32_t nodes) const {
        return tasks_by_node ? tasks * nodes : tasks;
    }
    std::uint64_t gpu_total() const;
};

// The reservations (or none of them) that are tried for a job of this shape.
inline std::vector<std::uint32_t> owners_of(const Shape& shape) {
    return shape.owners.empty() ? std::vector<std::uint32_t>{0} : shape.owners;
}

// Whether it has its nodes for itself, with all that is there.
bool takes_whole_nodes(const model::JobSpec& spec, const model::Partition& partition,
                       const Selection& selection);
// The shape of a job in one partition. The specification is complete: defaults have been filled in.
Shape shape_of(const model::JobSpec& spec, const model::Partition& partition,
               const Selection& selection);

// How many tasks the job is, if it runs on `nodes` nodes (SLURM_NTASKS).
std::uint32_t task_count(const model::JobSpec& spec, std::uint32_t nodes);

}  // namespace switchyard::core::sched
