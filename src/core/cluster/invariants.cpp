// invariants.cpp: what must be true after every step, checked the slow way. For tests and the
// simulator.

#include <algorithm>

#include "base/assert.hpp"
#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {

// Reservations and licenses: who is said to use them does.
void Cluster::Impl::check_set_aside() const {
    std::map<std::string, std::uint32_t> held;
    for (const auto& [id, job] : jobs_) {
        const bool pending = std::holds_alternative<model::Pending>(job.phase);
        SY_ASSERT(!license_places_.contains(id) || (pending && !planning_.queue.contains(id)));
        SY_ASSERT(naming_.contains(id) != job.spec->reservation.empty());
        if (pending || std::holds_alternative<model::Ended>(job.phase)) continue;
        const auto* completing = std::get_if<model::Completing>(&job.phase);
        if (completing != nullptr && completing->epilog) continue;
        if (is_configuring(job)) SY_ASSERT(!steps_.contains({id, job.attempt, kBatchStep}));
        const model::Running& run = *model::run_of(job);
        if (!run.reservation.empty()) SY_ASSERT(runs_in_.at(run.reservation).contains(id));
        for (const model::License& license : *model::parse_licenses(run.licenses))
            held[license.name] += license.count;
    }
    for (const model::LicenseUse& license : licenses_.use(now_))
        SY_ASSERT(license.used == held[license.name]);
}

void Cluster::Impl::check_invariants() const {
    pool_.check_invariants();
    planning_.check();
    std::size_t unfinished = 0;
    std::map<JobId, std::uint32_t> running_elements;
    std::map<std::string, std::set<JobId>> held;
    for (const auto& [id, job] : jobs_) {
        SY_ASSERT(job.id == id);
        SY_ASSERT(id < next_job_id_);
        SY_ASSERT(job.spec != nullptr);
        const bool pending = std::holds_alternative<model::Pending>(job.phase);
        const bool ended = std::holds_alternative<model::Ended>(job.phase);
        if (!ended) ++unfinished;
        SY_ASSERT(pending || !planning_.queue.contains(id));
        if (job.het) check_component(job);
        if (job.array) {
            const auto array = arrays_.find(job.array->array_id);
            SY_ASSERT(array != arrays_.end());
            SY_ASSERT(array->second.records.contains(id));
            SY_ASSERT(array->second.pending.contains(id) == pending);
            SY_ASSERT(job.array->element.has_value() == job.array->pending.empty());
            if (!pending && !ended) ++running_elements[job.array->array_id];
        }
        if (pending || ended) continue;
        SY_ASSERT(!job.array || job.array->element);
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
    SY_ASSERT(unfinished == unfinished_);
    for (const auto& [id, array] : arrays_) {
        SY_ASSERT(!array.records.empty());
        const auto running = running_elements.find(id);
        SY_ASSERT(array.running == (running == running_elements.end() ? 0 : running->second));
    }
    for (NodeIndex i = 0; i < nodes_.size(); ++i) {
        const model::Node& node = nodes_[i];
        const auto jobs = held.find(node.config.name);
        const std::set<JobId> expected = jobs == held.end() ? std::set<JobId>{} : jobs->second;
        SY_ASSERT(node_sides_[i].jobs == expected);
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
    for (const auto& [id, own_side] : sides_) {
        const Job* job = find_job(id);
        SY_ASSERT(job != nullptr);
        for (const StepId step : own_side.active_steps) {
            const auto found = steps_.find(StepKey{id, job->attempt, step});
            SY_ASSERT(found != steps_.end());
            SY_ASSERT(!found->second.end);
            SY_ASSERT(!found->second.running_nodes.empty());
        }
    }
    check_queued_steps();
}

}  // namespace switchyard::core
