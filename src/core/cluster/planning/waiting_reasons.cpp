// waiting_reasons.cpp: see waiting_reasons.hpp.

#include "core/cluster/planning/waiting_reasons.hpp"

#include <algorithm>

#include "core/sched/crowded.hpp"

namespace switchyard::core {
namespace {

// One pass finds out for so many newcomers; after a restart all jobs are newcomers.
constexpr std::size_t kReasonsPerPassMax = 20000;
// So many waiting jobs get a new reason when an advance reservation comes or goes.
constexpr std::size_t kForemostMax = 10000;

}  // namespace

using model::Reason;

void WaitingReasons::clear() {
    fronts_.assign(world_.partitions.size(), std::nullopt);
    fresh_.clear();
}

void WaitingReasons::look_at_fronts() {
    for (const auto& front : fronts_) {
        if (front) fresh_.push_back(front->job);
    }
}

void WaitingReasons::look_at_foremost() {
    std::optional<sched::Queue::Stand> last;
    while (fresh_.size() < kForemostMax) {
        last = queue_.next_behind(last);
        if (!last) return;
        fresh_.push_back(last->first.job);
    }
}

// Reasons are derived: they are shown from memory and stored only along with real changes.
void WaitingReasons::set(Job& job, PartitionIndex partition) {
    job.last_evaluated = world_.now;
    if (holds_.contains(job.id))
        return hets_.set_reason(job, Reason::Resources, "waits for preempted jobs to leave");
    const sched::Group* group = queue_.group_of(job.id, partition);
    if (group != nullptr && group->hopeless)
        return hets_.set_reason(job, group->why, group->why_detail);
    if (const auto problem =
            group != nullptr ? calendar_.window_problem(job, *group) : std::nullopt)
        return hets_.set_reason(job, Reason::ReqNodeNotAvail, *problem);
    const auto front = queue_.front(partition);
    if (front && front->job != job.id) {
        const Job* ahead = world_.find_job(front->job);
        return hets_.set_reason(
            job, Reason::Priority,
            ahead == nullptr ? std::string() : "behind job " + model::display_id(*ahead));
    }
    const bool crowded_out = sched::is_crowded_out(queue_, world_.pool, partition);
    hets_.set_reason(job, crowded_out ? Reason::NodeDown : Reason::Resources);
}

// Only newcomers and those who have become first change their reason: a pass costs what changed.
// True: there are more of them, for the next pass.
bool WaitingReasons::settle() {
    const auto settle = [&](JobId id) {
        Job* job = world_.find_job(id);
        if (job == nullptr || !queue_.contains(id) ||
            !std::holds_alternative<model::Pending>(job->phase))
            return;
        for (PartitionIndex p = 0; p < world_.partitions.size(); ++p) {
            if (queue_.group_of(id, p) != nullptr) return set(*job, p);
        }
    };
    const auto enough = std::min<std::size_t>(fresh_.size(), kReasonsPerPassMax);
    for (std::size_t i = 0; i < enough; ++i) {
        world_.jobs.fold_idle();
        settle(fresh_[i]);
    }
    fresh_.erase(fresh_.begin(), fresh_.begin() + static_cast<std::ptrdiff_t>(enough));
    std::vector<PartitionIndex> moved;
    for (PartitionIndex p = 0; p < world_.partitions.size(); ++p) {
        const auto front = queue_.front(p);
        if (front == fronts_[p]) continue;
        if (fronts_[p]) settle(fronts_[p]->job);
        fronts_[p] = front;
        moved.push_back(p);
    }
    // Who is first elsewhere on the same nodes may have been crowded out by one who was first here.
    for (PartitionIndex p = 0; p < world_.partitions.size() && !moved.empty(); ++p) {
        const auto concerns = [&](PartitionIndex q) { return p == q || world_.pool.overlap(p, q); };
        if (fronts_[p] && std::ranges::any_of(moved, concerns)) settle(fronts_[p]->job);
    }
    return !fresh_.empty();
}

}  // namespace switchyard::core
