// fit.hpp: how much of a job one node can hold. Pure functions of a node, its free room and a
// shape.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/sched/free_index.hpp"
#include "core/sched/node_pool.hpp"
#include "core/sched/shape.hpp"
#include "model/features.hpp"

namespace switchyard::core::sched {

// Kinds of GPU that one --gpus list may name.
inline constexpr std::size_t kGpuKindsMax = 4;

// A shape with its names resolved against a pool: made once per group of equal jobs.
struct Demand {
    Shape shape;
    model::Constraint constraint;
    model::Constraint preferred;                // With --prefer: what is tried first.
    std::vector<NodeIndex> required, excluded;  // Sorted.
    bool impossible = false;                    // Names a node that does not exist.
    std::uint32_t cpus_min = 1;                 // Least on any of its nodes.
    Least least;                                // The cores of it are least_cores().
};
Demand make_demand(Shape shape, const NodePool& pool);

// The fewest cores that can be of use on any node.
std::uint32_t least_cores(const Demand& demand, const NodePool& pool);

// And on all its nodes together.
std::uint64_t least_cores_in_all(const Demand& demand, const NodePool& pool);

struct Fit {
    std::uint32_t tasks = 0;  // The most tasks it can hold; 0: it is of no use.
    std::array<std::uint32_t, kGpuKindsMax> gpus{};  // Of each kind in gpus_per_job.
};

// How much of a job some nodes could hold together.
struct FitSum {
    std::uint64_t nodes = 0, tasks = 0;
    std::array<std::uint64_t, kGpuKindsMax> gpus{};

    // So many nodes like this one.
    void add(const Fit& fit, std::uint64_t count = 1);
    bool enough_for(const Shape& shape) const;
};

// What the node is, not what is free on it: features, exclusions, size.
bool is_candidate(const NodeEntry& node, NodeIndex index, const Demand& demand);
Fit fit(const NodeEntry& node, const Room& room, const Demand& demand, Selection::Unit unit);
// The room of the node if nobody held anything.
Room empty_room(const NodeEntry& node);

// What `tasks` tasks (and `gpus` cards of the job's count) take of the node.
std::uint32_t cores_for(const NodeEntry& node, const Shape& shape, std::uint32_t tasks,
                        std::uint64_t gpus, Selection::Unit unit);
std::uint64_t memory_for(const NodeEntry& node, const Shape& shape, std::uint32_t cores,
                         std::uint64_t gpus);
// Cards on the node by all the ways of asking for them.
std::uint64_t gpus_on_node(const NodeEntry& node, const Shape& shape, std::uint32_t tasks,
                           std::uint64_t job_gpus);
// All generic resources of `tasks` tasks on the node, the share of gpus_per_job included.
std::vector<GresNeed> gres_for(const NodeEntry& node, const Shape& shape, std::uint32_t tasks,
                               const std::array<std::uint32_t, kGpuKindsMax>& job_gpus);

// Cores that a job which shares may use: those free and those with room for one more.
std::uint32_t shareable_cores(const NodeEntry& node, std::uint32_t share);

}  // namespace switchyard::core::sched
