// lending.cpp: see lending.hpp.

#include "core/cluster/planning/lending.hpp"

#include <algorithm>
#include <chrono>

#include "core/cluster/cluster_impl.hpp"
#include "core/cluster/planning/preemption.hpp"

namespace switchyard::core {

// Suspended for another: what it holds is taken hold of anew, without the cores.
void Lending::lend_cores(Job& job) {
    holdings_.hold_anew(job, [&] {
        std::get<model::Running>(job.phase).preempted->lends_cores = true;
        cluster_.freeze(job);
    });
}

bool Lending::cores_are_back(const Job& job) const {
    const model::Partition* partition = world_.partition_of(job);
    const bool whole =
        partition != nullptr && sched::shape_of(*job.spec, *partition, world_.settings).whole_nodes;
    return std::ranges::all_of(model::allocation_of(job)->nodes, [&](const auto& grant) {
        const auto index = world_.node_index(grant.node);
        if (!index) return false;
        const sched::NodeEntry& node = world_.pool.node(*index);
        if (node.held_whole() || (whole && node.holdings.size() > 1)) return false;
        const auto cores = grant.cores.to_vector();
        return std::ranges::all_of(cores, [&](std::uint32_t core) {
            return core >= node.core_holders.size() || node.core_holders[core] == 0;
        });
    });
}

// With all its components, if each has its cores back.
bool Lending::take_cores_back(Job& job) {
    const std::vector<JobId> ids = hets_.live_components(hets_.leader_of(job));
    const bool all = std::ranges::all_of(ids, [&](JobId id) {
        return !lenders_.contains(id) || cores_are_back(world_.jobs.at(id));
    });
    if (!all) return false;
    for (const JobId id : ids) {
        if (!lenders_.contains(id)) continue;
        Job& part = world_.jobs.at(id);
        preemption_.drop_hold(id);
        holdings_.hold_anew(part, [&] {
            std::get<model::Suspended>(part.phase).run.preempted.reset();
            cluster_.thaw(part);
        });
    }
    return true;
}

// Those of a higher tier come first; of the others nobody passes one who only waits for its cores.
void Lending::resume(bool before_others) {
    const std::set<JobId> lenders = lenders_;
    for (const JobId id : lenders) {
        if (!lenders_.contains(id)) continue;
        Job& job = world_.jobs.at(id);
        const auto partition = world_.partition_index(job.partition);
        bool yields = false;
        for (PartitionIndex p = 0; before_others && partition && p < world_.partitions.size();
             ++p) {
            const auto front = queue_.front(p);
            yields |= front && front->tier > world_.partitions[*partition].priority_tier &&
                      world_.pool.overlap(p, *partition);
        }
        if (!yields && take_cores_back(job)) continue;
        if (before_others && partition) hold_for(job, *partition);
    }
}

// From when those leave who have its cores now.
void Lending::hold_for(const Job& job, PartitionIndex partition) {
    PreemptionHold hold;
    hold.partition = partition;
    Instant from = world_.now;
    for (const model::NodeGrant& grant : model::allocation_of(job)->nodes) {
        const auto node = world_.node_index(grant.node);
        if (!node) continue;
        for (const sched::Holding& holding : world_.pool.node(*node).holdings) {
            if (holding.grant.cores.intersects(grant.cores)) from = std::max(from, holding.until);
        }
    }
    if (const PreemptionHold* known = holds_.find(job.id)) {
        const auto& places = known->places;
        if (!places.empty() && std::max(places.front().second.from, world_.now) == from) return;
        preemption_.drop_hold(job.id);
    }
    const auto end = world_.deadline_of(job);
    const auto left = end ? std::max(*end - std::get<model::Suspended>(job.phase).since,
                                     std::chrono::duration_cast<Millis>(Seconds{1}))
                          : std::chrono::duration_cast<Millis>(sched::kForever);
    for (const model::NodeGrant& grant : model::allocation_of(job)->nodes) {
        const auto node = world_.node_index(grant.node);
        if (!node) continue;
        sched::Reserved reserved;
        reserved.key = key_of(job, world_.partitions[partition]);
        reserved.job = job.id;
        reserved.from = from;
        reserved.until = from + left;
        reserved.room.cores = static_cast<std::uint32_t>(grant.cores.size());
        const model::Reservation* within = calendar_.find(model::run_of(job)->reservation);
        if (within != nullptr) reserved.owner = within->id;
        hold.places.emplace_back(*node, std::move(reserved));
    }
    holds_.put(job.id, std::move(hold));
}

}  // namespace switchyard::core
