// suspend.cpp: frozen in place, by its owner, an operator or for a job of a higher tier. The time
// limit stands still. Memory and cards stay held; cores do so too, unless another job is to have
// them meanwhile.

#include <algorithm>

#include "core/cluster/selected.hpp"

namespace switchyard::core {

void Cluster::Impl::freeze(Job& job) {
    model::Running run = std::move(std::get<model::Running>(job.phase));
    job.phase = model::Suspended{std::move(run), now_};
    tell_frozen(job, true);
}

void Cluster::Impl::thaw(Job& job) {
    auto& suspended = std::get<model::Suspended>(job.phase);
    // Never nothing: a node that has not heard of its end is told again because of it.
    const auto pause = std::chrono::ceil<Seconds>(now_ - suspended.since);
    model::Running run = std::move(suspended.run);
    run.suspended_for += pause;
    if (run.ends_by) *run.ends_by += pause;
    job.phase = std::move(run);
    tell_frozen(job, false);
}

void Cluster::Impl::tell_frozen(Job& job, bool frozen) {
    touch(job);
    for (const model::NodeGrant& grant : model::allocation_of(job)->nodes) {
        const Seconds grace = frozen ? settings_.preempt.suspend_grace : Seconds{0};
        emit(effect::Freeze{grant.node, job.id, job.attempt, !frozen, grace});
        if (!frozen) emit(effect::SetDeadline{grant.node, job.id, job.attempt, deadline_of(job)});
    }
    notify_owner(job,
                 frozen ? reply::OwnerNotice::Kind::Suspended : reply::OwnerNotice::Kind::Resumed);
    set_until(job);
    index_run(job);
    retime(job);
    if (frozen) return;
    begin_if_ready(job);
    retry_waiting_steps(job.id);
}

// The nodes are not idle meanwhile, whatever it looks like.
template <class Change>
void Cluster::Impl::hold_anew(Job& job, Change change) {
    const model::Allocation allocation = *model::allocation_of(job);
    rebuilding_ = true;
    for (const model::NodeGrant& grant : allocation.nodes) release_on(job, grant.node);
    change();
    for (const model::NodeGrant& grant : allocation.nodes) claim_on(job, grant);
    rebuilding_ = false;
    for (const model::NodeGrant& grant : allocation.nodes) {
        if (const auto node = node_index(grant.node)) node_changed(*node);
    }
}

// Suspended for another: what it holds is taken hold of anew, without the cores.
void Cluster::Impl::lend_cores(Job& job) {
    hold_anew(job, [&] {
        std::get<model::Running>(job.phase).preempted->lends_cores = true;
        freeze(job);
    });
}

bool Cluster::Impl::cores_are_back(const Job& job) const {
    const model::Partition* partition = partition_of(job);
    const bool whole =
        partition != nullptr && sched::shape_of(*job.spec, *partition, settings_).whole_nodes;
    return std::ranges::all_of(model::allocation_of(job)->nodes, [&](const auto& grant) {
        const auto index = node_index(grant.node);
        if (!index) return false;
        const sched::NodeEntry& node = pool_.node(*index);
        if (node.held_whole() || (whole && node.holdings.size() > 1)) return false;
        const auto cores = grant.cores.to_vector();
        return std::ranges::all_of(cores, [&](std::uint32_t core) {
            return core >= node.core_holders.size() || node.core_holders[core] == 0;
        });
    });
}

// With all its components, if each has its cores back.
bool Cluster::Impl::take_cores_back(Job& job) {
    const std::vector<JobId> ids = live_components(leader_of(job));
    const bool all = std::ranges::all_of(
        ids, [&](JobId id) { return !lenders_.contains(id) || cores_are_back(jobs_.at(id)); });
    if (!all) return false;
    for (const JobId id : ids) {
        if (!lenders_.contains(id)) continue;
        Job& part = jobs_.at(id);
        drop_claim(id);
        hold_anew(part, [&] {
            std::get<model::Suspended>(part.phase).run.preempted.reset();
            thaw(part);
        });
    }
    return true;
}

// Those of a higher tier come first; of the others nobody passes one who only waits for its cores.
void Cluster::Impl::resume_lenders(bool before_others) {
    const std::set<JobId> lenders = lenders_;
    for (const JobId id : lenders) {
        if (!lenders_.contains(id)) continue;
        Job& job = jobs_.at(id);
        const auto partition = partition_index(job.partition);
        bool yields = false;
        for (PartitionIndex p = 0; before_others && partition && p < partitions_.size(); ++p) {
            const auto front = queue_.front(p);
            yields |= front && front->tier > partitions_[*partition].priority_tier &&
                      pool_.overlap(p, *partition);
        }
        if (!yields && take_cores_back(job)) continue;
        if (before_others && partition) keep_for_lender(job, *partition);
    }
}

// From when those leave who have its cores now.
void Cluster::Impl::keep_for_lender(const Job& job, PartitionIndex partition) {
    Claim claim;
    claim.partition = partition;
    Instant from = now_;
    for (const model::NodeGrant& grant : model::allocation_of(job)->nodes) {
        const auto node = node_index(grant.node);
        if (!node) continue;
        for (const sched::Holding& holding : pool_.node(*node).holdings) {
            if (holding.grant.cores.intersects(grant.cores)) from = std::max(from, holding.until);
        }
    }
    if (const auto known = claims_.find(job.id); known != claims_.end()) {
        const auto& places = known->second.places;
        if (!places.empty() && std::max(places.front().second.from, now_) == from) return;
        drop_claim(job.id);
    }
    const auto end = deadline_of(job);
    const auto left = end ? std::max(*end - std::get<model::Suspended>(job.phase).since,
                                     std::chrono::duration_cast<Millis>(Seconds{1}))
                          : std::chrono::duration_cast<Millis>(sched::kForever);
    for (const model::NodeGrant& grant : model::allocation_of(job)->nodes) {
        const auto node = node_index(grant.node);
        if (!node) continue;
        sched::Reserved reserved;
        reserved.key = key_of(job, partitions_[partition]);
        reserved.job = job.id;
        reserved.from = from;
        reserved.until = from + left;
        reserved.room.cores = static_cast<std::uint32_t>(grant.cores.size());
        const auto within = calendar_.find(model::run_of(job)->reservation);
        if (within != calendar_.end()) reserved.owner = within->second.id;
        pool_.reserve(*node, reserved);
        claim.places.emplace_back(*node, std::move(reserved));
    }
    ++claims_version_;
    claims_.insert_or_assign(job.id, std::move(claim));
}

void Cluster::Impl::on(const event::Suspend& event) {
    auto done = for_each_selected(event.jobs, event.caller, [&](Job& job) -> std::optional<Errc> {
        if (std::holds_alternative<model::Pending>(job.phase)) return Errc::JobPending;
        if (std::holds_alternative<model::Ended>(job.phase)) return Errc::JobFinished;
        if (std::holds_alternative<model::Completing>(job.phase)) return Errc::JobCompleting;
        if (event.resume) {
            if (!std::holds_alternative<model::Suspended>(job.phase)) return Errc::JobNotSuspended;
            if (lenders_.contains(job.id))
                return take_cores_back(job) ? std::nullopt : std::optional(Errc::NodesBusy);
            thaw(job);
        } else {
            const auto* running = std::get_if<model::Running>(&job.phase);
            if (running == nullptr) return Errc::JobNotRunning;
            // It is about to be ended for another.
            if (running->preempted) return Errc::JobCompleting;
            freeze(job);
        }
        return std::nullopt;
    });
    reply(event.token, std::move(done));
}

}  // namespace switchyard::core
