// holdings.cpp: the two ledgers kept in step: the scheduler's pool, and the figures shown of each
// node.

#include <algorithm>

#include "base/assert.hpp"
#include "core/cluster/cluster_impl.hpp"
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

Instant Cluster::Impl::held_until(const Job& job) const {
    if (std::holds_alternative<model::Completing>(job.phase)) return now_ + settings_.kill_wait;
    const auto& preempted = model::run_of(job)->preempted;
    if (preempted && preempted->grace_ends) return *preempted->grace_ends + settings_.kill_wait;
    const auto deadline = deadline_of(job);
    return deadline ? *deadline : now_ + sched::kForever;
}

// All that a job holds: its allocation, or what of it is not clean yet.
void Cluster::Impl::claim(const Job& job) {
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
    claim_licenses(job);
    index_run(job);
    const std::string& reservation = model::run_of(job)->reservation;
    if (!reservation.empty()) runs_in_[reservation].insert(job.id);
}

void Cluster::Impl::claim_on(const Job& job, const model::NodeGrant& grant) {
    const auto index = node_index(grant.node);
    if (!index) return;  // The node left the configuration while we were away.
    const model::Partition* partition = partition_of(job);
    sched::Holding holding;
    holding.job = job.id;
    holding.until = held_until(job);
    holding.uid = job.spec->uid;
    holding.grant = grant;
    if (partition != nullptr) {
        const sched::Shape shape = sched::shape_of(*job.spec, *partition, settings_);
        holding.whole = shape.whole_nodes;
        holding.share = shape.share;
        holding.single_user = shape.single_user;
    }
    if (lends_cores(job)) holding = sched::without_cores(std::move(holding));
    pool_.claim(*index, std::move(holding));
    model::Node& node = nodes_[*index];
    const model::NodeGrant held = held_part(job, grant);
    node.used_cores.insert(held.cores);
    node.used_cpus += held.cpus;
    node.used_memory += grant.memory;
    model::add_grants(node.used_gres, grant.gres);
    node.exclusive = pool_.node(*index).held_whole();
    ++(std::holds_alternative<model::Completing>(job.phase) ? node.completing_jobs
                                                            : node.running_jobs);
    node_sides_[*index].jobs.insert(job.id);
    node_changed(*index);
}

void Cluster::Impl::release_on(const Job& job, const std::string& name) {
    const auto index = node_index(name);
    if (!index || !node_sides_[*index].jobs.contains(job.id)) return;
    const model::NodeGrant* granted = model::allocation_of(job)->find(name);
    SY_ASSERT(granted != nullptr);
    const model::NodeGrant grant = held_part(job, *granted);
    pool_.release(*index, job.id);
    model::Node& node = nodes_[*index];
    const sched::NodeEntry& entry = pool_.node(*index);
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
    node_sides_[*index].jobs.erase(job.id);
    node.last_busy = now_;
    plan_is_stale_ = preempt_is_stale_ = true;
    queue_.wake(*index);
    node_changed(*index);
}

// Opens or closes a node to new jobs, as its state demands.
void Cluster::Impl::refresh_node(NodeIndex index) {
    const model::Node& node = nodes_[index];
    const NodeSide& side = node_sides_[index];
    const bool rebooting = node.reboot && node.reboot->issued;
    const bool usable = !node.down && !node.drain && !rebooting && !side.retired &&
                        node.config.start != model::NodeConfig::Start::Future;
    const bool open = usable && node.responding && side.ghosts.empty() && !side.owes_journal;
    const sched::NodeEntry& entry = pool_.node(index);
    const bool was_usable = entry.usable, was_open = entry.open;
    pool_.set_open(index, open, usable);
    if (usable != was_usable) {
        ++hope_epoch_;
        calendar_is_stale_ = !calendar_.empty();
    }
    if (open && !was_open) {
        queue_.wake(index);
        plan_is_stale_ = preempt_is_stale_ = true;
    }
    node_changed(index);
}

void Cluster::Impl::set_until(const Job& job) {
    if (!holds_anything(job)) return;
    licenses_.set_until(job.id, held_until(job));
    for (const model::NodeGrant& grant : model::allocation_of(job)->nodes) {
        if (const auto node = node_index(grant.node))
            pool_.set_until(*node, job.id, held_until(job));
    }
}

}  // namespace switchyard::core
