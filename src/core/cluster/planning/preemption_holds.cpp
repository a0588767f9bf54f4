// preemption_holds.cpp: see preemption_holds.hpp.

#include "core/cluster/planning/preemption_holds.hpp"

namespace switchyard::core {

const PreemptionHold* PreemptionHolds::find(JobId job) const {
    const auto found = holds_.find(job);
    return found == holds_.end() ? nullptr : &found->second;
}

void PreemptionHolds::put(JobId job, PreemptionHold hold) {
    for (const auto& [node, reserved] : hold.places) world_.pool.reserve(node, reserved);
    ++version_;
    holds_.insert_or_assign(job, std::move(hold));
}

bool PreemptionHolds::drop(JobId job) {
    const auto found = holds_.find(job);
    if (found == holds_.end()) return false;
    const auto places = std::move(found->second.places);
    holds_.erase(found);
    ++version_;
    for (const auto& [node, reserved] : places) {
        world_.pool.drop_reservation(node, job);
        queue_.wake(node);
    }
    return true;
}

void PreemptionHolds::victim_left(JobId by, JobId victim) {
    if (const auto found = holds_.find(by); found != holds_.end())
        found->second.victims.erase(victim);
}

// The job itself is not kept out by what is kept for it.
void PreemptionHolds::set_aside(JobId job, bool aside) {
    const auto found = holds_.find(job);
    if (found == holds_.end()) return;
    for (const auto& [node, reserved] : found->second.places) {
        if (aside) {
            world_.pool.drop_reservation(node, job);
        } else {
            world_.pool.reserve(node, reserved);
        }
    }
}

// A plan is made beside them.
void PreemptionHolds::add_to(sched::BackfillReservations& reserved) const {
    for (const auto& [id, hold] : holds_) {
        for (const auto& [node, place] : hold.places)
            reserved.add(node, world_.pool.node(node).places, place);
    }
}

}  // namespace switchyard::core
