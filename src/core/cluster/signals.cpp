// signals.cpp: a signal goes to what runs of a job.

#include <algorithm>
#include <utility>

#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {

void Cluster::Impl::signal_running(const Job& job, const event::Signal& event,
                                   std::optional<StepId> step) {
    const model::Allocation& allocation = *model::allocation_of(job);
    for (const model::NodeGrant& grant : allocation.nodes) {
        effect::SignalSteps signal;
        signal.node = grant.node;
        signal.job = job.id;
        signal.attempt = job.attempt;
        signal.signal = event.signal;
        signal.all_processes = event.full;
        if (step) {
            const model::Step& one = steps_.at(StepKey{job.id, job.attempt, *step});
            if (std::ranges::find(one.running_nodes, grant.node) == one.running_nodes.end())
                continue;
            signal.step = step;
            signal.batch_shell = *step == kBatchStep;
        } else {
            const bool first = &grant == &allocation.nodes.front();
            signal.batch_shell = first && (event.batch_only || event.full) &&
                                 job.spec->kind == model::JobKind::Batch;
            signal.steps = !event.batch_only;
            if (!signal.batch_shell && !signal.steps) continue;
        }
        emit(std::move(signal));
    }
}

}  // namespace switchyard::core
