// queued_steps.cpp: a step of srun --async for which its job has no room is a record of the job:
// it has its number, waits with no process behind it, and begins when there is room. A restart
// finds it in the store, with what it is to run beside it.
//
// The parts of one srun in several components of a heterogeneous job have one number and one nonce;
// they wait with the first of them, and begin and end together.

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "core/cluster/steps/steps.hpp"

namespace switchyard::core {

void Steps::queue(const event::CreateStep& event) {
    const std::vector<StepKey> keys = record(event);
    for (const StepKey& key : keys) sides_[key.job].waiting.push_back({{}, key.step});
    world_.reply(event.token, reply::StepMade{keys.front(), {keys.begin() + 1, keys.end()}});
}

// All parts that wait of the step that this is one of.
std::vector<StepKey> Steps::parts_of(const StepKey& key) const {
    const Job& job = world_.jobs.at(key.job);
    if (!job.het) return {key};
    const std::uint64_t nonce = world_.steps.at(key).nonce;
    std::vector<StepKey> parts;
    for (const JobId id : hets_.components_of(job)) {
        const auto part = world_.steps.find({id, world_.jobs.at(id).attempt, key.step});
        if (part == world_.steps.end() || !model::is_pending(part->second)) continue;
        if (part->second.nonce == nonce) parts.push_back(part->first);
    }
    return parts;
}

// What the srun asked for that left it here.
event::CreateStep Steps::queued_request(const std::vector<StepKey>& parts) const {
    const model::Step& first = world_.steps.at(parts.front());
    event::CreateStep request;
    request.caller.uid = world_.jobs.at(first.key.job).spec->uid;
    request.job = first.key.job;
    request.spec = first.spec;
    request.nonce = first.nonce;
    for (std::size_t i = 1; i < parts.size(); ++i)
        request.more.push_back({parts[i].job, world_.steps.at(parts[i]).spec});
    return request;
}

void Steps::waits_no_more(const StepKey& key) {
    std::erase_if(sides_[key.job].waiting,
                  [&](const Waiting& one) { return one.record == key.step; });
}

Steps::Try Steps::try_queued(const StepKey& key) {
    const std::vector<StepKey> parts = parts_of(key);
    auto plans = plan(queued_request(parts));
    if (!plans && plans.error().code == Errc::NodesBusy) return Try::Busy;
    if (!plans) {
        // What the job has now will never do for it: it has lost a node, perhaps.
        end_queued(key, model::JobState::Failed);
        return Try::Refused;
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
        waits_no_more(parts[i]);
        begin(world_.steps.at(parts[i]), std::move((*plans)[i]));
    }
    for (const StepKey& part : parts) launch(part);
    return Try::Made;
}

// It never began, and no part of it will.
void Steps::end_queued(const StepKey& key, model::JobState state) {
    for (const StepKey& part : parts_of(key)) {
        model::Step& step = world_.steps.at(part);
        if (state == model::JobState::Failed) step.worst_exit.code = 1;
        step.end = model::StepEnd{world_.now, state, step.worst_exit};
        world_.touch(step);
        waits_no_more(part);
        tell_watchers(part);
    }
}

void Steps::refuse_waiting(const Job& job) {
    Side* own_side = find_side(job.id);
    if (own_side == nullptr) return;
    std::vector<Waiting>& waiting = own_side->waiting;
    while (!waiting.empty()) {
        if (const auto record = waiting.front().record) {
            end_queued({job.id, job.attempt, *record}, model::JobState::Cancelled);
            continue;
        }
        const Token token = waiting.front().request.token;
        waiting.erase(waiting.begin());
        world_.refuse(token, Errc::JobFinished);
        waiters_.drop(token, job.id);
    }
}

// What waits in the records waits here too.
void Steps::check_queued() const {
    for (const auto& [key, step] : world_.steps) {
        SY_ASSERT(world_.jobs.contains(key.job));
        if (!model::is_pending(step)) continue;
        SY_ASSERT(step.running_nodes.empty() && step.layout.nodes.empty());
        SY_ASSERT(step.spec.detached);
        const Job& job = world_.jobs.at(key.job);
        SY_ASSERT(job.attempt == key.attempt);
        const Side* own_side = find_side(key.job);
        SY_ASSERT(own_side != nullptr);
        SY_ASSERT(std::ranges::any_of(own_side->waiting,
                                      [&](const Waiting& one) { return one.record == key.step; }));
    }
}

}  // namespace switchyard::core
