// active_steps.cpp: steps begin, and end node by node.

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "base/limits.hpp"
#include "core/cluster/steps/steps.hpp"

namespace switchyard::core {
namespace {

// The worse of two exits, as srun judges: a signal beats a code, a higher code a lower.
bool is_worse(const model::ExitStatus& a, const model::ExitStatus& b) {
    const auto weight = [](const model::ExitStatus& e) {
        return std::pair(e.signal != 0 ? 1 : 0, e.signal + e.code);
    };
    return weight(a) > weight(b);
}

}  // namespace

Steps::Side* Steps::find_side(JobId job) {
    const auto found = sides_.find(job);
    return found == sides_.end() ? nullptr : &found->second;
}

const Steps::Side* Steps::find_side(JobId job) const {
    const auto found = sides_.find(job);
    return found == sides_.end() ? nullptr : &found->second;
}

void Steps::load(const Job& job) {
    if (model::is_finished(job)) return;
    const auto first = world_.steps.lower_bound(StepKey{job.id, job.attempt, StepId{0}});
    for (auto at = first;
         at != world_.steps.end() && at->first.job == job.id && at->first.attempt == job.attempt;
         ++at) {
        if (at->second.end) continue;
        Side& own = sides_[job.id];
        if (model::is_pending(at->second)) {
            own.waiting.push_back({{}, at->first.step});
            continue;
        }
        own.active.insert(at->first.step);
        // What it runs is in the store: no srun is needed to launch it.
        if (at->second.spec.detached) own.launched_here.insert(at->first.step);
    }
}

void Steps::forget(JobId job) {
    const auto first = world_.steps.lower_bound(StepKey{job, Attempt{0}, StepId{0}});
    auto last = first;
    for (; last != world_.steps.end() && last->first.job == job; ++last)
        world_.keep_last(last->second);
    world_.steps.erase(first, last);
    sides_.erase(job);
}

void Steps::observe(const Transition& transition) {
    const JobId job = transition.job.id;
    switch (transition.cause) {
        case Cause::Requeued:
        case Cause::Reopened:
            return run_is_over(job);
        case Cause::Ended:
        case Cause::Withdrawn:
            sides_.erase(job);
            return;
        case Cause::Forgotten:
            return forget(job);
        default:
            return;
    }
}

void Steps::check() const {
    for (const auto& [id, side] : sides_) {
        const Job* job = world_.find_job(id);
        SY_ASSERT(job != nullptr);
        for (const StepId step : side.active) {
            const auto found = world_.steps.find(StepKey{id, job->attempt, step});
            SY_ASSERT(found != world_.steps.end());
            SY_ASSERT(!found->second.end);
            SY_ASSERT(!found->second.running_nodes.empty());
        }
    }
    check_queued();
}

void Steps::begin_batch(const Job& job) {
    const model::Allocation& allocation = *model::allocation_of(job);
    model::Step step;
    step.key = {job.id, job.attempt, kBatchStep};
    step.spec.name = "batch";
    step.spec.tasks = 1;
    step.layout.nodes.push_back({allocation.nodes.front(), {0}});
    step.submitted = step.started = world_.now;
    step.running_nodes = {allocation.nodes.front().node};
    world_.touch(step);
    Side& own = sides_[job.id];
    own.active.insert(kBatchStep);
    own.launched_here.insert(kBatchStep);
    world_.steps.insert_or_assign(step.key, std::move(step));
}

void Steps::launch_on(const std::string& node, const StepKey& key) {
    if (const auto index = world_.node_index(node); index && nodes_.side(*index).owes_journal)
        return;
    world_.emit(effect::LaunchStep{node, key});
    if (std::holds_alternative<model::Suspended>(world_.jobs.at(key.job).phase))
        world_.emit(effect::Freeze{node, key.job, key.attempt, false});
}

const std::set<StepId>& Steps::active(JobId job) const {
    static const std::set<StepId> kNone;
    const Side* side = find_side(job);
    return side == nullptr ? kNone : side->active;
}

void Steps::seen(const StepKey& key, const std::string& node) {
    Side& own = sides_[key.job];
    own.seen.insert({key.step, node});
    own.doubted.erase({key.step, node});
}

bool Steps::was_seen(const StepKey& key, const std::string& node) const {
    const Side* side = find_side(key.job);
    return side != nullptr && side->seen.contains({key.step, node});
}

bool Steps::was_launched_here(const StepKey& key) const {
    const Side* side = find_side(key.job);
    return side != nullptr && side->launched_here.contains(key.step);
}

void Steps::doubt(const StepKey& key, const std::string& node) {
    sides_[key.job].doubted.insert({key.step, node});
    world_.timers.set({TimerKey::Kind::StepDoubt, key.job.value},
                      world_.now + world_.settings.owner_grace);
}

// Steps that a node did not list and whose srun did not come back to launch them again.
void Steps::give_up_doubted(const Job& job) {
    Side* own = find_side(job.id);
    if (own == nullptr) return;
    for (const auto& [step_id, node] : std::exchange(own->doubted, {})) {
        const StepKey key{job.id, job.attempt, step_id};
        const auto step = world_.steps.find(key);
        if (step == world_.steps.end() || step->second.end) continue;
        if (std::ranges::find(step->second.running_nodes, node) == step->second.running_nodes.end())
            continue;
        world_.emit(effect::EndStep{node, key, EndCause::Finished});
        StepReport report;
        report.key = key;
        report.lost = true;
        ended_on(job, step->second, node, report);
    }
    retry_waiting(job.id);
}

bool Steps::runs_on(const Job& job, const std::string& node) const {
    return std::ranges::any_of(active(job.id), [&](StepId id) {
        const auto step = world_.steps.find(StepKey{job.id, job.attempt, id});
        if (step == world_.steps.end()) return false;
        const auto& running = step->second.running_nodes;
        return std::ranges::find(running, node) != running.end();
    });
}

void Steps::ended_on(const Job& job, model::Step& step, const std::string& node,
                     const StepReport& report) {
    std::erase(step.running_nodes, node);
    model::ExitStatus exit = report.exit;
    if (exit.ok() && report.timed_out) exit.signal = 15;
    if (exit.ok() && report.lost) exit.signal = 9;
    if (exit.ok() && report.out_of_memory) exit.signal = 9;
    if (exit.ok() && !report.launch_error.empty()) exit.code = 1;
    if (is_worse(exit, step.worst_exit)) step.worst_exit = exit;
    model::merge(step.usage, report.usage);
    world_.touch(step);
    if (!step.running_nodes.empty()) return;
    model::StepEnd end{world_.now, model::JobState::Completed, step.worst_exit};
    const model::Outcome* outcome = model::outcome_of(job);
    const bool cancelled = outcome != nullptr && (outcome->state == model::JobState::Cancelled ||
                                                  outcome->state == model::JobState::Timeout);
    if (report.out_of_memory) {
        end.state = model::JobState::OutOfMemory;
    } else if (report.timed_out || (cancelled && step.worst_exit.signal != 0) ||
               (step.worst_exit.signal == 15 && job.attempt == step.key.attempt)) {
        end.state = model::JobState::Cancelled;
    } else if (report.lost) {
        end.state = model::JobState::NodeFail;
    } else if (!step.worst_exit.ok()) {
        end.state = model::JobState::Failed;
    }
    step.end = end;
    const StepKey ended = step.key;
    if (job.attempt == step.key.attempt) {
        if (Side* own_side = find_side(job.id)) {
            own_side->active.erase(step.key.step);
            own_side->launched_here.erase(step.key.step);
        }
    }
    tell_watchers(ended);
}

void Steps::close_on(const Job& job, const std::string& node) {
    for (const StepId id : std::set<StepId>(active(job.id))) {
        const auto step = world_.steps.find(StepKey{job.id, job.attempt, id});
        if (step == world_.steps.end()) continue;
        if (std::ranges::find(step->second.running_nodes, node) == step->second.running_nodes.end())
            continue;
        StepReport report;
        report.key = step->first;
        report.lost = true;
        ended_on(job, step->second, node, report);
    }
}

model::ExitStatus Steps::worst_exit(const Job& job) const {
    model::ExitStatus worst;
    const auto first = world_.steps.lower_bound(StepKey{job.id, job.attempt, StepId{0}});
    for (auto at = first;
         at != world_.steps.end() && at->first.job == job.id && at->first.attempt == job.attempt;
         ++at) {
        if (at->first.step == kBatchStep) continue;
        if (is_worse(at->second.worst_exit, worst)) worst = at->second.worst_exit;
    }
    return worst;
}

void Steps::number_beyond(Job& job, StepId step) {
    const bool regular = step.value < limits::kStepsPerJobMax;
    if (!restore_.is_backup() || !regular || step.value < job.next_step) return;
    job.next_step = step.value + 1;
    world_.touch(job);
}

void Steps::run_is_over(JobId job) {
    Side* own = find_side(job);
    if (own == nullptr) return;
    own->active.clear();
    own->launched_here.clear();
    own->seen.clear();
    own->doubted.clear();
}

}  // namespace switchyard::core
