// job_counts.cpp: see job_counts.hpp.

#include "core/cluster/job_counts.hpp"

#include "base/assert.hpp"

namespace switchyard::core {

void JobCounts::load(const Job& job) {
    if (!model::is_finished(job)) ++unfinished_;
}

void JobCounts::count_end(const Job& job) {
    switch (model::outcome_of(job)->state) {
        case model::JobState::Completed:
            ++world_.figures.jobs_completed;
            break;
        case model::JobState::Cancelled:
            ++world_.figures.jobs_cancelled;
            break;
        default:
            ++world_.figures.jobs_failed;
            break;
    }
}

void JobCounts::observe(const Transition& transition) {
    switch (transition.cause) {
        case Cause::Submitted:
            ++world_.figures.jobs_submitted;
            ++unfinished_;
            break;
        case Cause::Split:
        case Cause::Reopened:
            ++unfinished_;
            break;
        case Cause::Started:
            ++world_.figures.jobs_started;
            if (transition.job.scheduler == "Backfill") ++world_.figures.jobs_backfilled;
            break;
        case Cause::Ended:
            count_end(transition.job);
            [[fallthrough]];
        case Cause::Withdrawn:
            SY_ASSERT(unfinished_ > 0);
            --unfinished_;
            break;
        default:
            break;
    }
}

void JobCounts::check() const {
    std::size_t unfinished = 0;
    for (const auto& [id, job] : world_.jobs) {
        if (!model::is_finished(job)) ++unfinished;
    }
    SY_ASSERT(unfinished == unfinished_);
}

}  // namespace switchyard::core
