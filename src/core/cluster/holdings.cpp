// holdings.cpp: see holdings.hpp.

#include "core/cluster/holdings.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "core/cluster/planning/planning.hpp"
#include "core/sched/shape.hpp"
#include "model/grant_sums.hpp"

namespace switchyard::core {
namespace {

bool holds_anything(const Job& job) {
    if (const auto* completing = std::get_if<model::Completing>(&job.phase))
        return !completing->epilog;
    return !std::holds_alternative<model::Pending>(job.phase) &&
           !std::holds_alternative<model::Ended>(job.phase);
}

bool lends_cores(const Job& job) {
    const auto& preempted = model::run_of(job)->preempted;
    return preempted && preempted->lends_cores;
}

// What the job holds of it: not the cores that it lends.
model::NodeGrant held_part(const Job& job, const model::NodeGrant& grant) {
    model::NodeGrant held = grant;
    if (lends_cores(job)) {
        held.cores = {};
        held.cpus = 0;
    }
    return held;
}

}  // namespace

Instant Holdings::held_until(const Job& job) const {
    if (std::holds_alternative<model::Completing>(job.phase))
        return world_.now + world_.settings.kill_wait;
    const auto& preempted = model::run_of(job)->preempted;
    if (preempted && preempted->grace_ends)
        return *preempted->grace_ends + world_.settings.kill_wait;
    const auto deadline = world_.deadline_of(job);
    return deadline ? *deadline : world_.now + sched::kForever;
}

void Holdings::observe(const Transition& transition) {
    if (transition.cause == Cause::Started) claim(transition.job);
    if (transition.cause == Cause::RunOver) set_until(transition.job);
}

// All that a job holds: its allocation, or what of it is not clean yet.
void Holdings::claim(const Job& job) {
    if (!holds_anything(job)) return;
    const model::Allocation& allocation = *model::allocation_of(job);
    const auto* completing = std::get_if<model::Completing>(&job.phase);
    for (const model::NodeGrant& grant : allocation.nodes) {
        if (completing && std::ranges::find(completing->dirty_nodes, grant.node) ==
                              completing->dirty_nodes.end()) {
            continue;
        }
        claim_on(job, grant);
    }
    licenses_.hold(job, held_until(job));
    planning_.preemption.index_run(job);
    calendar_.entered(job);
}

void Holdings::claim_on(const Job& job, const model::NodeGrant& grant) {
    const auto index = world_.node_index(grant.node);
    if (!index) return;  // The node left the configuration while we were away.
    const model::Partition* partition = world_.partition_of(job);
    sched::Holding holding;
    holding.job = job.id;
    holding.until = held_until(job);
    holding.uid = job.spec->uid;
    holding.grant = grant;
    if (partition != nullptr) {
        const sched::Shape shape = sched::shape_of(*job.spec, *partition, world_.settings);
        holding.whole = shape.whole_nodes;
        holding.share = shape.share;
        holding.single_user = shape.single_user;
    }
    if (lends_cores(job)) holding = sched::without_cores(std::move(holding));
    world_.pool.claim(*index, std::move(holding));
    model::Node& node = world_.nodes[*index];
    const model::NodeGrant held = held_part(job, grant);
    node.used_cores.insert(held.cores);
    node.used_cpus += held.cpus;
    node.used_memory += grant.memory;
    model::add_grants(node.used_gres, grant.gres);
    node.exclusive = world_.pool.node(*index).held_whole();
    ++(std::holds_alternative<model::Completing>(job.phase) ? node.completing_jobs
                                                            : node.running_jobs);
    nodes_.side(*index).jobs.insert(job.id);
    nodes_.changed(*index);
}

void Holdings::release_on(const Job& job, const std::string& name) {
    const auto index = world_.node_index(name);
    if (!index || !nodes_.side(*index).jobs.contains(job.id)) return;
    const model::NodeGrant* granted = model::allocation_of(job)->find(name);
    SY_ASSERT(granted != nullptr);
    const model::NodeGrant grant = held_part(job, *granted);
    world_.pool.release(*index, job.id);
    model::Node& node = world_.nodes[*index];
    const sched::NodeEntry& entry = world_.pool.node(*index);
    if (entry.holdings.empty()) {
        node.used_cores = {};
    } else {
        node.used_cores.erase(grant.cores);
        for (const sched::Holding& holding : entry.holdings) {
            if (holding.share > 1) node.used_cores.insert(holding.grant.cores);
        }
    }
    node.used_cpus -= std::min(node.used_cpus, grant.cpus);
    node.used_memory -= std::min(node.used_memory, grant.memory);
    model::subtract_grants(node.used_gres, grant.gres);
    node.exclusive = entry.held_whole();
    std::uint32_t& count = std::holds_alternative<model::Completing>(job.phase)
                               ? node.completing_jobs
                               : node.running_jobs;
    SY_ASSERT(count > 0);
    --count;
    nodes_.side(*index).jobs.erase(job.id);
    node.last_busy = world_.now;
    planning_.capacity_freed(*index);
    nodes_.changed(*index);
}

void Holdings::set_until(const Job& job) {
    if (!holds_anything(job)) return;
    licenses_.set_until(job.id, held_until(job));
    for (const model::NodeGrant& grant : model::allocation_of(job)->nodes) {
        if (const auto node = world_.node_index(grant.node))
            world_.pool.set_until(*node, job.id, held_until(job));
    }
}

}  // namespace switchyard::core
