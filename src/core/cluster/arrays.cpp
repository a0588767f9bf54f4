// arrays.cpp: see arrays.hpp.

#include "core/cluster/arrays.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace switchyard::core {
namespace {

bool has_some_of(const Job& job, const model::IndexSet& elements) {
    return job.array->element ? elements.contains(*job.array->element)
                              : elements.intersects(job.array->pending);
}

}  // namespace

void Arrays::load(const Job& job) {
    if (!job.array) return;
    const bool over = std::holds_alternative<model::Ended>(job.phase);
    const bool waits = std::holds_alternative<model::Pending>(job.phase);
    ArraySide& side = sides_[job.array->array_id];
    side.records.insert(job.id);
    if (waits) side.pending.insert(job.id);
    if (!over && !waits) ++side.running;
    if (over) add_end(side, *model::outcome_of(job));
}

// With the last record of an array goes what was submitted with it.
void Arrays::forget(const Job& job) {
    const auto found = sides_.find(job.array->array_id);
    found->second.records.erase(job.id);
    found->second.pending.erase(job.id);
    if (!found->second.records.empty()) return;
    sides_.erase(found);
    if (model::is_finished(job)) world_.changes.unneeded_payloads.insert(job.array->array_id);
}

void Arrays::observe(const Transition& transition) {
    const Job& job = transition.job;
    if (!job.array) return;
    if (transition.before == Phase::Completing && transition.after == Phase::Ended) run_over(job);
    switch (transition.cause) {
        case Cause::Submitted:
            return load(job);
        case Cause::Started:
            return run_began(job);
        case Cause::Requeued:
        case Cause::Reopened:
            side_of(job).pending.insert(job.id);
            return review_throttled(job);
        case Cause::Ended:
            side_of(job).pending.erase(job.id);
            add_end(side_of(job), *model::outcome_of(job));
            return review_throttled(job);
        case Cause::Withdrawn:
        case Cause::Forgotten:
            return forget(job);
        default:
            return;
    }
}

ArraySide& Arrays::side_of(const Job& job) { return sides_[job.array->array_id]; }

void Arrays::check() const {
    std::map<JobId, std::uint32_t> running;
    for (const auto& [id, job] : world_.jobs) {
        if (!job.array) continue;
        const bool pending = std::holds_alternative<model::Pending>(job.phase);
        const bool ended = std::holds_alternative<model::Ended>(job.phase);
        const ArraySide* side = find(job.array->array_id);
        SY_ASSERT(side != nullptr);
        SY_ASSERT(side->records.contains(id));
        SY_ASSERT(side->pending.contains(id) == pending);
        SY_ASSERT(job.array->element.has_value() == job.array->pending.empty());
        if (!pending && !ended) ++running[job.array->array_id];
    }
    for (const auto& [id, side] : sides_) {
        SY_ASSERT(!side.records.empty());
        const auto found = running.find(id);
        SY_ASSERT(side.running == (found == running.end() ? 0 : found->second));
    }
}

const ArraySide* Arrays::find(JobId array) const {
    const auto found = sides_.find(array);
    return found == sides_.end() ? nullptr : &found->second;
}

std::vector<const Job*> Arrays::find(const model::JobSelector& selector) const {
    std::vector<const Job*> found;
    const ArraySide* array = find(selector.job);
    if (array == nullptr) {
        const Job* job = world_.find_job(selector.job);
        if (job == nullptr) return found;
        const bool wants_elements = selector.elements.has_value() || selector.all_elements;
        if (wants_elements && !job->array) return found;
        // A part of an array has a number of its own, but not all elements.
        if (selector.elements && !selector.all_elements && !has_some_of(*job, *selector.elements))
            return found;
        // The leader's number means the whole of a heterogeneous job, "12+0" the leader alone.
        const std::set<JobId>* het = selector.component ? nullptr : hets_.find(selector.job);
        if (het == nullptr) {
            found.push_back(job);
        } else {
            for (const JobId id : *het) found.push_back(world_.find_job(id));
        }
        return found;
    }
    for (const JobId id : array->records) {
        const Job& job = *world_.find_job(id);
        const bool all = selector.all_elements || !selector.elements;
        if (all || has_some_of(job, *selector.elements)) found.push_back(&job);
    }
    return found;
}

Job& Arrays::split(Job& block, const model::IndexSet& elements) {
    SY_ASSERT(block.array && !block.array->element);
    SY_ASSERT(elements.size() < block.array->pending.size());
    Job part = block;
    part.id = world_.take_job_id();
    part.nonce = 0;
    part.array->pending = elements;
    if (auto* pending = std::get_if<model::Pending>(&part.phase)) {
        pending->planned_start.reset();
        pending->planned_nodes.clear();
    }
    if (elements.size() == 1) {
        part.array->element = elements.front();
        part.array->pending = {};
    }
    block.array->pending.erase(elements);
    ArraySide& side = sides_[block.array->array_id];
    side.records.insert(part.id);
    side.pending.insert(part.id);
    Job& kept = world_.jobs.add(std::move(part));
    world_.touch(block);
    world_.touch(kept);
    return kept;
}

bool Arrays::throttled(const Job& job) const {
    if (!job.array || job.array->throttle == 0) return false;
    const ArraySide* side = find(job.array->array_id);
    return side != nullptr && side->running >= job.array->throttle;
}

void Arrays::run_began(const Job& job) {
    ++side_of(job).running;
    side_of(job).pending.erase(job.id);
}

void Arrays::run_over(const Job& job) {
    SY_ASSERT(side_of(job).running > 0);
    --side_of(job).running;
}

void Arrays::add_end(ArraySide& side, const model::Outcome& outcome) {
    const int wait = outcome.exit.to_wait();
    side.worst_wait = std::max(side.worst_wait, wait);
    side.least_wait = side.any_ended ? std::min(side.least_wait, wait) : wait;
    side.any_ended = true;
    side.any_failed |= outcome.state != model::JobState::Completed;
}

void Arrays::review_throttled(const Job& job) {
    if (job.array->throttle == 0) return;
    for (const JobId id : side_of(job).pending) world_.agenda.review(id);
}

void Arrays::set_throttle(JobId array, std::uint32_t throttle) {
    for (const JobId id : sides_[array].records) {
        world_.jobs.at(id).array->throttle = throttle;
        world_.touch(world_.jobs.at(id));
    }
    for (const JobId id : sides_[array].pending) world_.agenda.review(id);
}

}  // namespace switchyard::core
