// resources.hpp: what a job holds: nodes, and on each its cores, memory and generic resources.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/gres.hpp"
#include "model/index_set.hpp"
#include "model/size_format.hpp"

namespace switchyard::model {

// One node's part of an allocation. It belongs to this job alone until the job has left the node.
struct NodeGrant {
    std::string node;
    IndexSet cores;  // Core numbers of the node, 0-based, over all sockets.
    std::uint32_t cpus =
        0;  // Hardware threads: cores times threads per core, as Slurm counts CPUs.
    std::uint32_t tasks = 0;  // Tasks of the job meant for this node (SLURM_TASKS_PER_NODE).
    MiB memory;               // 0: no limit was asked for and none is set.
    std::vector<GresGrant> gres;
    bool operator==(const NodeGrant&) const = default;
};

struct Allocation {
    std::vector<NodeGrant> nodes;  // In node order; the batch script runs on the first.
    bool operator==(const Allocation&) const = default;

    std::uint32_t cpus() const;
    MiB memory() const;
    std::vector<std::string> node_names() const;
    const NodeGrant* find(std::string_view node) const;
};

// "2(x3),1" : the compressed per-node lists of SLURM_JOB_CPUS_PER_NODE and SLURM_TASKS_PER_NODE.
std::string compress_counts(const std::vector<std::uint32_t>& counts);
std::vector<std::uint32_t> cpus_per_node(const Allocation& allocation);
std::vector<std::uint32_t> tasks_per_node(const Allocation& allocation);

// "cpu=4,mem=400M,node=2,billing=4,gres/gpu=1,gres/gpu:rtx4000=1": ReqTRES and AllocTRES.
std::string format_tres(std::uint64_t cpus, MiB memory, std::uint64_t nodes,
                        const std::vector<GresGrant>& gres);
std::string format_tres(const Allocation& allocation);
// What a node has (CfgTRES, with billing) or has given out (AllocTRES, without); "" when that is
// nothing.
std::string format_node_tres(std::uint64_t cpus, MiB memory, const std::vector<GresGrant>& gres,
                             bool with_billing);

}  // namespace switchyard::model
