// split.cpp: elements of a job array that leave the block of those that wait, each with a record
// of its own: because they start, are named by a command, or wait for a counterpart of their own.

#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {

Job& Cluster::Impl::split_off(Job& block, const model::IndexSet& elements) {
    Job& part = arrays_.split(block, elements);
    tell({part, Phase::None, Phase::Pending, Cause::Split});
    return part;
}

// The block keeps at least one other.
Job& Cluster::Impl::split_element(Job& block, std::uint32_t element) {
    model::IndexSet one;
    one.insert(element);
    return split_off(block, one);
}

// aftercorr between arrays goes element by element: those that are decided leave the block.
void Cluster::Impl::settle_correspondence(Job& job) {
    if (!job.array || job.array->element || job.array->pending.size() < 2) return;
    const std::vector<model::DependencyTerm> terms = job.spec->dependency.terms;
    for (const model::DependencyTerm& term : terms) {
        if (term.kind != model::DependencyKind::AfterCorr || term.element) continue;
        for (const Job* target : dependencies_.targets_of(term)) {
            if (!target->array || !target->array->element) continue;
            if (!std::holds_alternative<model::Ended>(target->phase)) continue;
            const std::uint32_t element = *target->array->element;
            if (job.array->pending.size() < 2 || !job.array->pending.contains(element)) continue;
            Job& part = split_element(job, element);
            JobSpec spec = *part.spec;
            for (model::DependencyTerm& own : spec.dependency.terms) {
                if (own == term) own.element = element;
            }
            dependencies_.forget_terms(part);
            world_.replace_spec(part, spec);
            dependencies_.add_terms(part);
            world_.agenda.review(part.id);
        }
    }
}

// The records that a selector means. With `splits`, elements named out of a pending block get a
// record of their own first, so that what follows touches only them.
std::vector<JobId> Cluster::Impl::select(const model::JobSelector& selector, bool splits) {
    std::vector<JobId> ids;
    for (const Job* found : arrays_.find(selector)) ids.push_back(found->id);
    if (!splits || !selector.elements || selector.all_elements) return ids;
    for (JobId& id : ids) {
        Job& job = jobs_.at(id);
        if (!std::holds_alternative<model::Pending>(job.phase) || job.array->element) continue;
        const model::IndexSet named = job.array->pending.intersection(*selector.elements);
        if (named.size() == job.array->pending.size()) continue;
        Job& part = split_off(job, named);
        id = part.id;
        std::get<model::Pending>(part.phase).reason = model::Reason::None;
        review(part);
    }
    return ids;
}

}  // namespace switchyard::core
