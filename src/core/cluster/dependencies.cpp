// dependencies.cpp: --dependency. A term is judged whenever the job it names starts or ends, and
// the verdict is stored with the waiting job, so that it does not matter how long the other record
// is kept.

#include "core/cluster/dependencies.hpp"

#include <algorithm>

namespace switchyard::core {
namespace {

using model::DependencyKind;
using model::DependencyStatus;
using model::DependencyTerm;

bool has_ended(const Job& job) { return std::holds_alternative<model::Ended>(job.phase); }

bool has_succeeded(const Job& job) {
    const model::Outcome* outcome = model::outcome_of(job);
    return has_ended(job) && outcome->state == model::JobState::Completed && outcome->exit.ok();
}

constexpr int kDependencyDepthMax = 64;

}  // namespace

void Dependencies::load(const Job& job) {
    if (!has_ended(job)) add_name(job);
    if (std::holds_alternative<model::Pending>(job.phase)) add_terms(job);
}

void Dependencies::observe(const Transition& transition) {
    const Job& job = transition.job;
    if (transition.before == Phase::Pending) forget_terms(job);
    switch (transition.cause) {
        case Cause::Submitted:
        case Cause::Split:
            return load(job);
        case Cause::Reopened:
            return add_name(job);
        case Cause::Started:
            return wake(job);
        case Cause::Ended:
            remove_name(job, job.spec->name);
            return wake(job);
        case Cause::Withdrawn:
            return remove_name(job, job.spec->name);
        default:
            return;
    }
}

void Dependencies::add_name(const Job& job) {
    unfinished_.add(job.spec->uid, job.spec->name, job.id);
}

void Dependencies::remove_name(const Job& job, const std::string& name) {
    unfinished_.remove(job.spec->uid, name, job.id);
}

// All records that a term speaks of.
std::vector<const Job*> Dependencies::targets_of(const DependencyTerm& term) const {
    model::JobSelector selector;
    selector.job = term.job;
    if (term.element) {
        selector.elements.emplace();
        selector.elements->insert(*term.element);
    }
    return arrays_.find(selector);
}

bool Dependencies::has_unfinished_namesake_before(const Job& job) const {
    const auto likely = unfinished_.find(job.spec->uid, job.spec->name);
    for (auto at = likely.begin; at != likely.end && at->job < job.id; ++at) {
        const JobSpec& other = *world_.jobs.at(at->job).spec;
        if (other.uid == job.spec->uid && other.name == job.spec->name) return true;
    }
    return false;
}

DependencyStatus Dependencies::judge_term(const Job& job, const DependencyTerm& term,
                                          std::optional<Instant>& look_again) const {
    if (term.status != DependencyStatus::Unfulfilled) return term.status;
    if (term.kind == DependencyKind::Singleton) {
        return has_unfinished_namesake_before(job) ? DependencyStatus::Unfulfilled
                                                   : DependencyStatus::Fulfilled;
    }
    const std::vector<const Job*> targets = targets_of(term);
    // A job that is no longer known ended long ago; whether well, nobody can say any more.
    if (targets.empty()) {
        const bool content = term.kind == DependencyKind::After ||
                             term.kind == DependencyKind::AfterAny ||
                             term.kind == DependencyKind::AfterBurstBuffer;
        return content ? DependencyStatus::Fulfilled : DependencyStatus::Failed;
    }
    if (term.kind == DependencyKind::After) {
        Instant latest{};
        for (const Job* target : targets) {
            const auto since =
                model::start_of(*target) ? model::start_of(*target) : model::end_of(*target);
            const bool waits =
                std::holds_alternative<model::Pending>(target->phase) && target->restarts == 0;
            if (waits || !since) return DependencyStatus::Unfulfilled;
            latest = std::max(latest, *since);
        }
        if (latest + term.delay <= world_.now) return DependencyStatus::Fulfilled;
        look_again = look_again ? std::min(*look_again, latest + term.delay) : latest + term.delay;
        return DependencyStatus::Unfulfilled;
    }
    const bool all_ended =
        std::ranges::all_of(targets, [](const Job* target) { return has_ended(*target); });
    const bool all_good =
        std::ranges::all_of(targets, [](const Job* target) { return has_succeeded(*target); });
    switch (term.kind) {
        case DependencyKind::AfterOk:
        case DependencyKind::AfterCorr:
            if (all_good) return DependencyStatus::Fulfilled;
            return all_ended ? DependencyStatus::Failed : DependencyStatus::Unfulfilled;
        case DependencyKind::AfterNotOk:
            if (!all_ended) return DependencyStatus::Unfulfilled;
            return all_good ? DependencyStatus::Failed : DependencyStatus::Fulfilled;
        default:
            return all_ended ? DependencyStatus::Fulfilled : DependencyStatus::Unfulfilled;
    }
}

DependencyStatus Dependencies::judge(Job& job) {
    JobSpec spec = *job.spec;
    DependencyStatus verdict = DependencyStatus::Unfulfilled;
    std::optional<Instant> look_again;
    std::size_t fulfilled = 0, failed = 0;
    for (DependencyTerm& term : spec.dependency.terms) {
        DependencyTerm asked = term;
        // An element of an array waits for its counterpart.
        if (term.kind == DependencyKind::AfterCorr && !term.element && job.array &&
            arrays_.find(term.job) != nullptr) {
            if (job.array->element) asked.element = job.array->element;
            if (!job.array->element && job.array->pending.size() == 1)
                asked.element = job.array->pending.front();
            if (asked.element && targets_of(asked).empty()) asked.element.reset();
        }
        term.status = judge_term(job, asked, look_again);
        fulfilled += term.status == DependencyStatus::Fulfilled ? 1 : 0;
        failed += term.status == DependencyStatus::Failed ? 1 : 0;
    }
    const std::size_t all = spec.dependency.terms.size();
    if (spec.dependency.any ? fulfilled > 0 : fulfilled == all) {
        verdict = DependencyStatus::Fulfilled;
    } else if (spec.dependency.any ? failed == all : failed > 0) {
        verdict = DependencyStatus::Failed;
    }
    if (verdict == DependencyStatus::Fulfilled) {
        forget_terms(job);
        spec.dependency = {};
        world_.replace_spec(job, spec);
    } else if (spec.dependency != job.spec->dependency) {
        world_.replace_spec(job, spec);
    }
    return verdict;
}

void Dependencies::add_terms(const Job& job) {
    for (const DependencyTerm& term : job.spec->dependency.terms) {
        if (term.kind == DependencyKind::Singleton) {
            singletons_[{job.spec->uid, job.spec->name}].insert(job.id);
        } else {
            dependents_[term.job].insert(job.id);
        }
    }
}

void Dependencies::forget_terms(const Job& job) {
    for (const DependencyTerm& term : job.spec->dependency.terms) {
        const auto drop = [&](auto& table, const auto& key) {
            const auto found = table.find(key);
            if (found == table.end()) return;
            found->second.erase(job.id);
            if (found->second.empty()) table.erase(found);
        };
        if (term.kind == DependencyKind::Singleton) {
            drop(singletons_, std::pair(job.spec->uid, job.spec->name));
        } else {
            drop(dependents_, term.job);
        }
    }
}

// The job started or ended: whoever waits for it is judged again.
void Dependencies::wake(const Job& job) {
    std::set<JobId> waiting;
    const auto collect = [&](JobId id) {
        if (const auto found = dependents_.find(id); found != dependents_.end()) {
            waiting.insert(found->second.begin(), found->second.end());
        }
    };
    collect(job.id);
    if (job.array) collect(job.array->array_id);
    if (job.het) collect(job.het->leader);
    if (has_ended(job)) {
        const auto named = singletons_.find({job.spec->uid, job.spec->name});
        if (named != singletons_.end()) waiting.insert(named->second.begin(), named->second.end());
    }
    for (const JobId id : waiting) world_.agenda.review(id);
}

// Whether following the dependencies of `spec` leads to the job `id`: a circle.
bool Dependencies::depends_on(const JobSpec& spec, JobId id, int depth) const {
    if (depth > kDependencyDepthMax) return true;
    for (const DependencyTerm& term : spec.dependency.terms) {
        if (term.kind == DependencyKind::Singleton) continue;
        if (term.job == id) return true;
        const Job* other = world_.find_job(term.job);
        if (other != nullptr && depends_on(*other->spec, id, depth + 1)) return true;
    }
    return false;
}

}  // namespace switchyard::core
