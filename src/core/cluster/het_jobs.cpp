// het_jobs.cpp: see het_jobs.hpp.

#include "core/cluster/het_jobs.hpp"

#include <iterator>
#include <utility>

#include "base/assert.hpp"

namespace switchyard::core {

void HetJobs::load(const Job& job) {
    if (job.het) components_[job.het->leader].insert(job.id);
}

void HetJobs::forget(const Job& job) {
    const auto found = job.het ? components_.find(job.het->leader) : components_.end();
    if (found == components_.end()) return;
    found->second.erase(job.id);
    if (found->second.empty()) components_.erase(found);
}

void HetJobs::observe(const Transition& transition) {
    const Job& job = transition.job;
    if (transition.cause == Cause::Submitted) load(job);
    if (transition.after == Phase::None) forget(job);
    // The others need not wait for this one.
    if (transition.cause == Cause::Ended && is_follower(job)) world_.agenda.review(job.het->leader);
}

void HetJobs::check() const {
    const auto runs = [](const Job& one) {
        return std::holds_alternative<model::Running>(one.phase);
    };
    for (const auto& [id, job] : world_.jobs) {
        if (!job.het) continue;
        SY_ASSERT(components_.at(job.het->leader).contains(id));
        // What runs was started with its leader, and no leader runs while one of them waits.
        const Job& leader = leader_of(job);
        if (runs(job) && runs(leader)) SY_ASSERT(model::start_of(job) == model::start_of(leader));
        SY_ASSERT(!runs(leader) || !std::holds_alternative<model::Pending>(job.phase));
    }
}

const std::set<JobId>* HetJobs::find(JobId leader) const {
    const auto found = components_.find(leader);
    return found == components_.end() ? nullptr : &found->second;
}

const Job& HetJobs::leader_of(const Job& job) const {
    const Job* leader = is_follower(job) ? world_.jobs.get(job.het->leader) : nullptr;
    return leader != nullptr ? *leader : job;
}

JobId HetJobs::first_of(JobId id) const {
    const auto behind = components_.upper_bound(id);
    const bool component = behind != components_.begin() && std::prev(behind)->second.contains(id);
    return component ? std::prev(behind)->first : id;
}

std::vector<JobId> HetJobs::components_of(const Job& job) const {
    const auto found = job.het ? components_.find(job.het->leader) : components_.end();
    if (found == components_.end()) return {job.id};
    return {found->second.begin(), found->second.end()};
}

std::vector<JobId> HetJobs::live_components(const Job& leader) const {
    std::vector<JobId> ids = components_of(leader);
    std::erase_if(ids, [&](JobId id) { return model::is_finished(world_.jobs.at(id)); });
    return ids;
}

std::vector<JobId> HetJobs::orphans() const {
    std::vector<JobId> orphans;
    for (const auto& [leader, parts] : components_) {
        if (!world_.jobs.contains(leader))
            orphans.insert(orphans.end(), parts.begin(), parts.end());
    }
    return orphans;
}

void HetJobs::set_reason(Job& job, model::Reason reason, std::string detail) const {
    auto& pending = std::get<model::Pending>(job.phase);
    pending.reason = reason;
    pending.detail = std::move(detail);
    if (job.het && job.het->offset == 0) share_reason(job);
}

void HetJobs::share_reason(const Job& leader) const {
    const model::Pending from = std::get<model::Pending>(leader.phase);
    for (const JobId id : components_of(leader)) {
        auto* pending = std::get_if<model::Pending>(&world_.jobs.at(id).phase);
        if (id == leader.id || pending == nullptr) continue;
        pending->reason = from.reason;
        pending->detail = from.detail;
        pending->planned_start = from.planned_start;
        if (!from.planned_start) pending->planned_nodes.clear();
    }
}

}  // namespace switchyard::core
