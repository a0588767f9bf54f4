// arrays.cpp: job arrays. One record stands for all elements that have not started; an element that
// starts, or is treated on its own, gets a record of its own, and the last one keeps the array's.

#include <algorithm>

#include "base/assert.hpp"
#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {

// A record of its own for one pending element. The block keeps at least one other.
Job& Cluster::Impl::split_element(Job& block, std::uint32_t element) {
    model::IndexSet one;
    one.insert(element);
    Job& part = split_elements(block, one);
    part.array->element = element;
    part.array->pending = {};
    return part;
}

// A record that stands for some of the pending elements of a block; others are left in it.
Job& Cluster::Impl::split_elements(Job& block, const model::IndexSet& elements) {
    SY_ASSERT(block.array && !block.array->element);
    SY_ASSERT(elements.size() < block.array->pending.size());
    Job part = block;
    part.id = take_job_id();
    part.nonce = 0;
    part.array->pending = elements;
    if (auto* pending = std::get_if<model::Pending>(&part.phase)) {
        pending->planned_start.reset();
        pending->planned_nodes.clear();
    }
    block.array->pending.erase(elements);
    ArraySide& array = arrays_[block.array->array_id];
    array.records.insert(part.id);
    array.pending.insert(part.id);
    ++unfinished_;
    unfinished_names_.add(part.spec->uid, part.spec->name, part.id);
    Job& kept = jobs_.add(std::move(part));
    index_reservation(kept);
    index_dependency(kept);
    touch(block);
    touch(kept);
    return kept;
}

bool Cluster::Impl::throttled(const Job& job) const {
    if (!job.array || job.array->throttle == 0) return false;
    const auto array = arrays_.find(job.array->array_id);
    return array != arrays_.end() && array->second.running >= job.array->throttle;
}

void Cluster::Impl::array_run_began(const Job& job) {
    if (!job.array) return;
    ArraySide& array = arrays_[job.array->array_id];
    ++array.running;
    array.pending.erase(job.id);
}

void Cluster::Impl::array_run_over(const Job& job) {
    if (!job.array) return;
    ArraySide& array = arrays_[job.array->array_id];
    SY_ASSERT(array.running > 0);
    --array.running;
}

// A place under the throttle has become free, or was taken.
void Cluster::Impl::review_throttled(const Job& job) {
    if (!job.array || job.array->throttle == 0) return;
    const std::set<JobId> waiting = arrays_[job.array->array_id].pending;
    for (const JobId id : waiting) review(jobs_.at(id));
}

// The records that a selector means. With `split`, elements named out of a pending block get a
// record of their own first, so that what follows touches only them.
std::vector<JobId> Cluster::Impl::select(const model::JobSelector& selector, bool split) {
    std::vector<JobId> ids;
    for (const Job* found : find(selector)) ids.push_back(found->id);
    if (!split || !selector.elements || selector.all_elements) return ids;
    for (JobId& id : ids) {
        Job& job = jobs_.at(id);
        if (!std::holds_alternative<model::Pending>(job.phase) || job.array->element) continue;
        const model::IndexSet named = job.array->pending.intersection(*selector.elements);
        if (named.size() == job.array->pending.size()) continue;
        id =
            (named.size() == 1 ? split_element(job, named.front()) : split_elements(job, named)).id;
        Job& part = jobs_.at(id);
        auto& pending = std::get<model::Pending>(part.phase);
        pending.reason = model::Reason::None;
        review(part);
    }
    return ids;
}

}  // namespace switchyard::core
