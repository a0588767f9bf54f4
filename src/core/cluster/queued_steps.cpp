// queued_steps.cpp: a step of srun --async for which its job has no room is a record of the job:
// it has its number, waits with no process behind it, and begins when there is room. A restart
// finds it in the store, with what it is to run beside it.
//
// The parts of one srun in several components of a heterogeneous job have one number and one nonce;
// they wait with the first of them, and begin and end together.

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {

void Cluster::Impl::queue_step(const event::CreateStep& event) {
    const std::vector<StepKey> keys = record_steps(event);
    for (const StepKey& key : keys) side(key.job).waiting_steps.push_back({{}, key.step});
    reply(event.token, reply::StepMade{keys.front(), {keys.begin() + 1, keys.end()}});
}

// All parts that wait of the step that this is one of.
std::vector<StepKey> Cluster::Impl::parts_of(const StepKey& key) const {
    const Job& job = jobs_.at(key.job);
    if (!job.het) return {key};
    const std::uint64_t nonce = steps_.at(key).nonce;
    std::vector<StepKey> parts;
    for (const JobId id : components_of(job)) {
        const auto part = steps_.find({id, jobs_.at(id).attempt, key.step});
        if (part == steps_.end() || !model::is_pending(part->second)) continue;
        if (part->second.nonce == nonce) parts.push_back(part->first);
    }
    return parts;
}

// What the srun asked for that left it here.
event::CreateStep Cluster::Impl::queued_request(const std::vector<StepKey>& parts) const {
    const model::Step& first = steps_.at(parts.front());
    event::CreateStep request;
    request.caller.uid = jobs_.at(first.key.job).spec->uid;
    request.job = first.key.job;
    request.spec = first.spec;
    request.nonce = first.nonce;
    for (std::size_t i = 1; i < parts.size(); ++i)
        request.more.push_back({parts[i].job, steps_.at(parts[i]).spec});
    return request;
}

void Cluster::Impl::waits_no_more(const StepKey& key) {
    std::erase_if(side(key.job).waiting_steps,
                  [&](const WaitingStep& one) { return one.record == key.step; });
}

Cluster::Impl::StepTry Cluster::Impl::try_queued(const StepKey& key) {
    const std::vector<StepKey> parts = parts_of(key);
    auto plans = plan_step(queued_request(parts));
    if (!plans && plans.error().code == Errc::NodesBusy) return StepTry::Busy;
    if (!plans) {
        // What the job has now will never do for it: it has lost a node, perhaps.
        end_queued(key, model::JobState::Failed);
        return StepTry::Refused;
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
        waits_no_more(parts[i]);
        begin_step(steps_.at(parts[i]), std::move((*plans)[i]));
    }
    for (const StepKey& part : parts) launch_step(part);
    return StepTry::Made;
}

// It never began, and no part of it will.
void Cluster::Impl::end_queued(const StepKey& key, model::JobState state) {
    for (const StepKey& part : parts_of(key)) {
        model::Step& step = steps_.at(part);
        if (state == model::JobState::Failed) step.worst_exit.code = 1;
        step.end = model::StepEnd{now_, state, step.worst_exit};
        touch(step);
        waits_no_more(part);
        tell_watchers(jobs_.at(part.job), part);
    }
}

// The run is over.
void Cluster::Impl::refuse_waiting_steps(const Job& job) {
    JobSide* own_side = find_side(job.id);
    if (own_side == nullptr) return;
    std::vector<WaitingStep>& waiting = own_side->waiting_steps;
    while (!waiting.empty()) {
        if (const auto record = waiting.front().record) {
            end_queued({job.id, job.attempt, *record}, model::JobState::Cancelled);
            continue;
        }
        const Token token = waiting.front().request.token;
        waiting.erase(waiting.begin());
        refuse(token, Errc::JobFinished);
        drop_token(token, job.id);
    }
}

// Part of check_invariants(): what waits in the records waits here too.
void Cluster::Impl::check_queued_steps() const {
    for (const auto& [key, step] : steps_) {
        SY_ASSERT(jobs_.contains(key.job));
        if (!model::is_pending(step)) continue;
        SY_ASSERT(step.running_nodes.empty() && step.layout.nodes.empty());
        SY_ASSERT(step.spec.detached);
        const Job& job = jobs_.at(key.job);
        SY_ASSERT(job.attempt == key.attempt);
        const auto own_side = sides_.find(key.job);
        SY_ASSERT(own_side != sides_.end());
        SY_ASSERT(std::ranges::any_of(own_side->second.waiting_steps, [&](const WaitingStep& one) {
            return one.record == key.step;
        }));
    }
}

}  // namespace switchyard::core
