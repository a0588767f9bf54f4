// begun.cpp: see begun.hpp.

#include "core/cluster/nodes/begun.hpp"

#include <utility>

namespace switchyard::core {
namespace {

model::Running* live_run(Job& job) {
    if (auto* running = std::get_if<model::Running>(&job.phase)) return running;
    auto* suspended = std::get_if<model::Suspended>(&job.phase);
    return suspended != nullptr ? &suspended->run : nullptr;
}

}  // namespace

void Begun::note(Job& job) {
    model::Running* run = live_run(job);
    if (run == nullptr || run->begun) return;
    run->begun = true;
    if (unwritten_.empty())
        world_.timers.set({TimerKey::Kind::Begun, 0}, world_.now + kBegunWithin);
    unwritten_.insert(job.id);
}

void Begun::write() {
    for (const JobId id : std::exchange(unwritten_, {})) {
        Job* job = world_.find_job(id);
        if (job != nullptr && live_run(*job) != nullptr) world_.touch(*job);
    }
}

bool has_begun(const Job& job) {
    const model::Running* run = model::run_of(job);
    return run != nullptr && run->begun;
}

}  // namespace switchyard::core
