// claims.cpp: room that is kept against everybody, for a job that others were made to leave for.

#include <algorithm>

#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {

void Cluster::Impl::keep_claim(const sched::Group& group, sched::QueueKey key,
                               const std::vector<FoundPlace>& found, std::set<JobId> victims) {
    drop_reservation(key.job);
    drop_claim(key.job);
    Claim claim;
    claim.partition = group.partition;
    claim.victims = std::move(victims);
    Instant left = now_;
    for (const JobId id : claim.victims) left = std::max(left, held_until(jobs_.at(id)));
    claim.expires = left + kEndJobRepeat;
    constexpr sched::QueueKey kBeforeAll{UINT32_MAX, UINT32_MAX, 0, JobId{0}};
    for (const FoundPlace& place : found) {
        const JobSpec& spec = *jobs_.at(place.job).spec;
        const sched::Shape shape = sched::shape_of(spec, partitions_[place.partition], settings_);
        for (const model::NodeGrant& grant : place.allocation.nodes) {
            const NodeIndex node = *node_index(grant.node);
            sched::Reserved reserved;
            reserved.key = kBeforeAll;
            reserved.job = key.job;
            reserved.from = now_;
            reserved.until = claim.expires + limit_of(spec);
            reserved.room = pool_.room_of(node, grant);
            reserved.whole = shape.whole_nodes;
            reserved.owner = place.terms.owner;
            claim.places.emplace_back(node, std::move(reserved));
        }
    }
    const bool waits = !claim.victims.empty();
    for (const auto& [node, reserved] : claim.places) pool_.reserve(node, reserved);
    ++claims_version_;
    claims_.insert_or_assign(key.job, std::move(claim));
    if (!waits) return;
    for (const FoundPlace& place : found) {
        auto& pending = std::get<model::Pending>(jobs_.at(place.job).phase);
        pending.planned_start = left;
        pending.planned_nodes = place.allocation.node_names();
    }
    set_waiting_reason(jobs_.at(key.job), group.partition);
}

void Cluster::Impl::drop_claim(JobId job) {
    const auto found = claims_.find(job);
    if (found == claims_.end()) return;
    const auto places = std::move(found->second.places);
    claims_.erase(found);
    ++claims_version_;
    plan_is_stale_ = preempt_is_stale_ = true;
    for (const auto& [node, reserved] : places) {
        pool_.drop_reservation(node, job);
        queue_.wake(node);
    }
}

// The job itself is not kept out by what is kept for it.
void Cluster::Impl::set_aside(JobId job, bool aside) {
    const auto found = claims_.find(job);
    if (found == claims_.end()) return;
    for (const auto& [node, reserved] : found->second.places) {
        if (aside) {
            pool_.drop_reservation(node, job);
        } else {
            pool_.reserve(node, reserved);
        }
    }
}

// Those whose room is free now come before everybody else.
void Cluster::Impl::serve_claims() {
    std::vector<JobId> ids;
    for (const auto& [id, claim] : claims_) {
        if (!lenders_.contains(id)) ids.push_back(id);
    }
    for (const JobId id : ids) {
        const Claim& claim = claims_.at(id);
        const PartitionIndex partition = claim.partition;
        const bool ready = claim.victims.empty(), queued = queue_.contains(id);
        if (queued && !ready && claim.expires > now_) {
            look_for_room_at(claim.expires);
            continue;
        }
        drop_claim(id);
        sched::Group* group = queued ? queue_.group_of(id, partition) : nullptr;
        if (group == nullptr || !ready) continue;
        try_start(*group, key_of(jobs_.at(id), partitions_[partition]));
        // An array may have more of them.
        more_to_do_ |= queue_.contains(id);
    }
}

}  // namespace switchyard::core
