// invariants.cpp: what must be true after every step, checked the slow way. For tests and the
// simulator.

#include <algorithm>

#include "base/assert.hpp"
#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {

void Cluster::Impl::check_invariants() {
    pool_.check_invariants();
    std::map<std::string, std::set<JobId>> held;
    for (const auto& [id, job] : jobs_) {
        SY_ASSERT(job.id == id);
        SY_ASSERT(id < world_.next_job_id);
        SY_ASSERT(job.spec != nullptr);
        const bool pending = std::holds_alternative<model::Pending>(job.phase);
        const bool ended = std::holds_alternative<model::Ended>(job.phase);
        SY_ASSERT(pending || !planning_.queue.contains(id));
        SY_ASSERT(!is_follower(job) || !planning_.queue.contains(id));
        SY_ASSERT(!licenses_.waits(id) || !planning_.queue.contains(id));
        if (pending || ended) continue;
        SY_ASSERT(!job.array || job.array->element);
        if (is_configuring(job)) SY_ASSERT(!steps_.contains({id, job.attempt, kBatchStep}));
        const model::Allocation& allocation = *model::allocation_of(job);
        SY_ASSERT(!allocation.nodes.empty());
        const auto* completing = std::get_if<model::Completing>(&job.phase);
        if (completing != nullptr) SY_ASSERT(completing->dirty_nodes.empty() == completing->epilog);
        for (const model::NodeGrant& grant : allocation.nodes) {
            const bool clean =
                completing != nullptr && std::ranges::find(completing->dirty_nodes, grant.node) ==
                                             completing->dirty_nodes.end();
            if (!clean) held[grant.node].insert(id);
        }
    }
    for (NodeIndex i = 0; i < nodes_.size(); ++i) {
        const model::Node& node = nodes_[i];
        const auto jobs = held.find(node.config.name);
        const std::set<JobId> expected = jobs == held.end() ? std::set<JobId>{} : jobs->second;
        SY_ASSERT(machines_.side(i).jobs == expected);
        SY_ASSERT(pool_.node(i).holdings.size() == expected.size());
        SY_ASSERT(node.running_jobs + node.completing_jobs == expected.size());
        std::uint64_t memory = 0;
        std::uint32_t cpus = 0;
        for (const sched::Holding& holding : pool_.node(i).holdings) {
            memory += holding.grant.memory.value;
            cpus += holding.grant.cpus;
        }
        SY_ASSERT(node.used_memory.value == memory);
        SY_ASSERT(node.used_cpus == cpus);
    }
    check_owners();
}

}  // namespace switchyard::core
