// begun.cpp: a script that has begun is not begun again in the same attempt, whatever becomes of
// controller, agent and spool.
//
// That it began is part of its record. It costs no commit of its own: most scripts are short, and
// their end is written anyway. What is left after kBegunWithin is written for all of them together.
// Until then the agent's list and journal know of it; only the loss of the controller and of the
// node's spool within that second would have it begun twice.

#include <algorithm>

#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {
namespace {

model::Running* live_run(Job& job) {
    if (auto* running = std::get_if<model::Running>(&job.phase)) return running;
    auto* suspended = std::get_if<model::Suspended>(&job.phase);
    return suspended != nullptr ? &suspended->run : nullptr;
}

}  // namespace

// Nodes speak for the jobs that they have, or had, a part in, and for no others.
bool Cluster::Impl::speaks_for(const std::string& node, const Job& job) const {
    const model::Allocation* allocation = model::allocation_of(job);
    return allocation != nullptr && allocation->find(node) != nullptr;
}

void Cluster::Impl::script_began(Job& job) {
    model::Running* run = live_run(job);
    if (run == nullptr || run->begun) return;
    run->begun = true;
    if (begun_unwritten_.empty()) timers_.set({TimerKey::Kind::Begun, 0}, now_ + kBegunWithin);
    begun_unwritten_.insert(job.id);
}

bool Cluster::Impl::has_begun(const Job& job) const {
    const model::Running* run = model::run_of(job);
    return run != nullptr && run->begun;
}

void Cluster::Impl::write_begun() {
    for (const JobId id : std::exchange(begun_unwritten_, {})) {
        Job* job = find_job(id);
        if (job != nullptr && live_run(*job) != nullptr) touch(*job);
    }
}

}  // namespace switchyard::core
