// preemptable_runs.cpp: see preemptable_runs.hpp.

#include "core/cluster/planning/preemptable_runs.hpp"

#include <algorithm>

namespace switchyard::core {

void PreemptableRuns::put(const RunRank& rank) {
    remove(rank.job);
    order_.insert(rank);
    by_job_.emplace(rank.job, rank);
}

void PreemptableRuns::remove(JobId job) {
    const auto found = by_job_.find(job);
    if (found == by_job_.end()) return;
    order_.erase(found->second);
    by_job_.erase(found);
}

void PreemptableRuns::clear() {
    order_.clear();
    by_job_.clear();
}

const RunRank* PreemptableRuns::find(JobId job) const {
    const auto found = by_job_.find(job);
    return found == by_job_.end() ? nullptr : &found->second;
}

std::optional<std::uint32_t> PreemptableRuns::lowest_tier() const {
    if (order_.empty()) return std::nullopt;
    return order_.begin()->tier;
}

LiftedRuns::~LiftedRuns() {
    for (const auto& [where, lifted] : lifted_) restore(where.first, lifted);
}

void LiftedRuns::restore(sched::NodeIndex node, const Lifted& lifted) {
    if (lifted.only_cores) pool_.release(node, lifted.holding.job);
    pool_.claim(node, lifted.holding);
}

void LiftedRuns::lift(sched::NodeIndex node, JobId job, bool only_cores) {
    const auto& holdings = pool_.node(node).holdings;
    const auto found = std::ranges::find(holdings, job, &sched::Holding::job);
    if (found == holdings.end() || lifted_.contains({node, job})) return;
    const sched::Holding holding = *found;
    pool_.release(node, job);
    if (only_cores) pool_.claim(node, sched::without_cores(holding));
    lifted_.emplace(std::pair(node, job), Lifted{holding, only_cores});
}

void LiftedRuns::put_back(sched::NodeIndex node, JobId job) {
    const auto found = lifted_.find({node, job});
    if (found == lifted_.end()) return;
    restore(node, found->second);
    lifted_.erase(found);
}

void LiftedRuns::lift(const PreemptUnit& unit) {
    for (const auto& [node, job] : unit.holds)
        lift(node, job, unit.mode == model::PreemptMode::Suspend);
}

void LiftedRuns::put_back(const PreemptUnit& unit) {
    for (const auto& [node, job] : unit.holds) put_back(node, job);
}

}  // namespace switchyard::core
