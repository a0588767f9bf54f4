// planning.cpp: the owners of planning, and what they are told of.

#include "core/cluster/planning/planning.hpp"

#include <algorithm>

#include "core/cluster/job_facts.hpp"

namespace switchyard::core {

Planning::Planning(World& world, Others others, Cluster::Impl& cluster)
    : het(world, queue, others.hets, others.licenses, others.calendar),
      holds(world, queue),
      backfill(world, queue, holds, het, others.licenses),
      reasons(world, queue, holds, others.hets, others.calendar),
      feasibility(world, queue, backfill, reasons, het),
      lending(world, queue, holds, preemption, others.holdings, others.hets, others.calendar,
              cluster),
      preemption(world,
                 {queue, backfill, holds, lending, reasons, het, others.holdings, others.hets,
                  others.licenses, others.timers, others.waiters},
                 cluster),
      starter(world, queue, backfill, holds, het, others.licenses, others.arrays, cluster),
      world_(world) {}

void Planning::clear() {
    queue.clear();
    queue.set_partition_count(world_.partitions.size());
    starter.clear();
    backfill.clear();
    holds.clear();
    preemption.clear();
    lending.clear();
    reasons.clear();
}

void Planning::observe(const Transition& transition) {
    const Job& job = transition.job;
    switch (transition.cause) {
        case Cause::RunOver:
            return preemption.run_is_over(job.id);
        case Cause::Left:
            return preemption.has_left(job.id, *model::run_of(job));
        case Cause::Returns:
        case Cause::Recurs:
        case Cause::Ended:
            // A restart puts all back who have not finished.
            return preemption.finished(job.id);
        case Cause::Withdrawn:
            return reasons.forget(job.id);
        default:
            return;
    }
}

void Planning::job_queued(sched::QueueKey key) {
    preemption.capacity_changed();
    backfill.job_queued(key);
}

void Planning::capacity_freed(NodeIndex node) {
    backfill.capacity_changed();
    preemption.capacity_changed();
    queue.wake(node);
}

void Planning::node_described(NodeIndex node) {
    queue.wake(node);
    feasibility.usable_nodes_changed();
    backfill.capacity_changed();
}

void Planning::windows_changed() {
    backfill.windows_changed();
    feasibility.usable_nodes_changed();
    queue.wake_all();
}

void Planning::check() const {
    queue.check_invariants();
    preemption.check();
}

}  // namespace switchyard::core
