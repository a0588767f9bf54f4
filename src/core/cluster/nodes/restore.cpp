// restore.cpp: see restore.hpp.

#include "core/cluster/nodes/restore.hpp"

#include <algorithm>
#include <utility>

namespace switchyard::core {

void Restore::begin() {
    restored_at_ = world_.now;
    before_ = world_.next_job_id;
    under_way_ = true;
    world_.timers.set({TimerKey::Kind::Restore, 0}, world_.now + world_.settings.node_timeout);
}

bool Restore::end() {
    if (!std::exchange(under_way_, false)) return false;
    world_.timers.set({TimerKey::Kind::Restore, 0}, std::nullopt);
    return true;
}

void Restore::load(JobId job) {
    if (restored_at_) before_ = std::max(before_, JobId{job.value + 1});
}

bool Restore::is_of_backup(const Job& job) const {
    if (!restored_at_ || job.id >= before_) return false;
    const auto started = model::start_of(job);
    return !started || *started <= *restored_at_;
}

bool Restore::may_run_again(const Job& job) const {
    const bool ran = model::run_of(job) != nullptr;
    return job.spec->requeue.value_or(world_.settings.requeue_by_default) &&
           !(ran && is_of_backup(job));
}

bool Restore::waits_for_nodes(const Job& job) const {
    if (!restored_at_) return false;
    return std::ranges::any_of(model::allocation_of(job)->nodes, [&](const auto& grant) {
        const auto index = world_.node_index(grant.node);
        if (!index) return false;
        const NodeSide& side = nodes_.side(*index);
        return side.owes_journal || (is_of_backup(job) && !side.ghosts.empty());
    });
}

}  // namespace switchyard::core
