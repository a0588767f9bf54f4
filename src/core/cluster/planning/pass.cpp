// pass.cpp: one pass over what could start.

#include <algorithm>

#include "core/cluster/cluster_impl.hpp"
#include "core/cluster/planning/planning.hpp"

namespace switchyard::core {

void Planning::run_pass() {
    more_to_do_ = false;
    backfill.begin_pass();
    feasibility.review();
    const bool plan_due = backfill.is_due();
    std::uint32_t attempts = 0;
    serve_holds();
    lending.resume(true);
    more_to_do_ |= starter.start_what_fits(attempts);
    if (plan_due && !more_to_do_) {
        more_to_do_ = !backfill.continue_plan();
        if (!more_to_do_) more_to_do_ = starter.start_what_fits(attempts);
    }
    if (preemption.is_due()) {
        more_to_do_ |= preemption.preempt_for_waiting();
        serve_holds();
    }
    lending.resume(false);
    SchedulerFigures& figures = world_.figures;
    figures.last_depth = attempts;
    figures.total_depth += attempts;
    figures.queue_length = queue.size();
    more_to_do_ |= reasons.settle();
}

// Those for whom all others have left come before everybody else.
void Planning::serve_holds() {
    std::vector<JobId> ids;
    for (const auto& [id, hold] : holds.all()) {
        if (!lending.contains(id)) ids.push_back(id);
    }
    for (const JobId id : ids) {
        const PreemptionHold& hold = *holds.find(id);
        const PartitionIndex partition = hold.partition;
        const bool ready = hold.victims.empty(), queued = queue.contains(id);
        if (queued && !ready && hold.expires > world_.now) {
            preemption.look_again_at(hold.expires);
            continue;
        }
        preemption.drop_hold(id);
        sched::Group* group = queued ? queue.group_of(id, partition) : nullptr;
        if (group == nullptr || !ready) continue;
        starter.try_start(*group, key_of(world_.jobs.at(id), world_.partitions[partition]));
        // An array may have more of them.
        more_to_do_ |= queue.contains(id);
    }
}

// None: nothing is to be done before something happens.
std::optional<Instant> Planning::next_pass() const {
    if (more_to_do_) return world_.now;
    const auto plan = backfill.next_plan();
    const auto again = queue.size() > 0 ? preemption.looks_again_at() : std::nullopt;
    if (!again || (plan && *plan <= *again)) return plan;
    return std::max(world_.now, *again);
}

}  // namespace switchyard::core
