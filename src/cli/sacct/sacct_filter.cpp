// sacct_filter.cpp: which of the jobs that the controller found are meant.
#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "cli/sacct/sacct_options.hpp"
#include "view/job/job_facts.hpp"

namespace switchyard::cli {
namespace {

std::optional<Instant> known_end(const model::Job& job) {
    return model::outcome_of(job) != nullptr ? model::end_of(job) : std::nullopt;
}

// Whether it was in that state at some time of the window.
bool was(const SacctOptions& options, const model::Job& job, model::JobState state) {
    const auto start = model::start_of(job);
    const auto end = known_end(job);
    switch (state) {
        case model::JobState::Pending: {
            const auto eligible = view::eligible_time(job);
            const auto until = start ? start : end;
            return eligible && *eligible <= options.to && (!until || *until >= options.from);
        }
        case model::JobState::Running:
            return start && *start <= options.to && (!end || *end >= options.from);
        case model::JobState::Suspended:
            return std::holds_alternative<model::Suspended>(job.phase);
        case model::JobState::Requeued:
            return job.restarts > 0 || model::base_state_of(job) == state;
        default:
            return model::base_state_of(job) == state && end && *end >= options.from &&
                   *end <= options.to;
    }
}

bool in_window(const SacctOptions& options, const model::Job& job) {
    if (!options.states.empty()) {
        return std::ranges::any_of(options.states,
                                   [&](model::JobState state) { return was(options, job, state); });
    }
    const bool by_id = !options.query.filter.jobs.empty();
    if (by_id && !options.window_given) return true;
    const auto end = known_end(job);
    if (end && *end < options.from) return false;
    // What waits for others or is held is no job of this time yet, unless it is asked for.
    if (by_id) return job.submitted <= options.to;
    if (std::holds_alternative<model::Pending>(job.phase)) {
        const auto eligible = view::eligible_time(job);
        return eligible && *eligible <= options.to;
    }
    const bool never_eligible = !model::start_of(job) && !job.eligible;
    return !never_eligible && job.submitted <= options.to;
}

bool within(const std::optional<Range>& range, std::uint64_t value) {
    return !range || (value >= range->least && value <= range->most);
}

bool has_limit(const SacctOptions& options, const model::Job& job) {
    if (!options.minutes) return true;
    const auto limit = view::time_limit(job);
    if (!limit) return false;
    const auto minutes =
        limit->unlimited ? UINT64_MAX : static_cast<std::uint64_t>(limit->seconds.count() / 60);
    return within(options.minutes, minutes);
}

bool names(const std::vector<std::string>& words, std::string_view word) {
    return words.empty() || std::ranges::any_of(words, [&](const std::string& each) {
               return equals_ignoring_case(each, word);
           });
}

bool is_of(const model::JobSelector& selector, const model::Job& job) {
    const bool array = job.array && job.array->array_id == selector.job;
    if (!selector.elements) return array || job.id == selector.job;
    if (!array) return false;
    if (job.array->element) return selector.elements->contains(*job.array->element);
    return selector.elements->intersects(job.array->pending);
}

}  // namespace

bool is_wanted(const SacctOptions& options, const model::Job& job) {
    if (!in_window(options, job) || !has_limit(options, job)) return false;
    if (!options.gids.empty() &&
        std::ranges::find(options.gids, job.spec->gid) == options.gids.end())
        return false;
    const model::Allocation* allocation = model::allocation_of(job);
    if (!within(options.nodes, allocation == nullptr ? 0 : allocation->nodes.size())) return false;
    if (!within(options.cpus, allocation == nullptr ? 0 : allocation->cpus())) return false;
    for (const std::string& word : options.constraints) {
        if (job.spec->constraint.find(word) == std::string::npos) return false;
    }
    if (!names(options.reasons, model::reason_text(model::reason_of(job)))) return false;
    return names(options.flags, "Sched" + job.scheduler);
}

bool wants_job_line(const SacctOptions& options, const model::Job& job) {
    const auto& selectors = options.query.filter.jobs;
    return selectors.empty() || std::ranges::any_of(selectors, [&](const auto& selector) {
               return !selector.step && is_of(selector, job);
           });
}

std::vector<model::JobSelector> companions(const SacctOptions& options,
                                           const std::vector<model::Job>& found) {
    std::vector<model::JobSelector> more;
    std::set<JobId> known;
    for (const model::Job& job : found) known.insert(job.id);
    for (const model::Job& job : found) {
        for (model::JobSelector selector : options.query.filter.jobs) {
            if (!job.het || !is_of(selector, job)) continue;
            const bool names_the_whole = selector.job == job.het->leader && !selector.component;
            if (!options.whole_hetjob.value_or(names_the_whole)) continue;
            for (std::uint32_t offset = 0; offset < job.het->size; ++offset) {
                selector.job = JobId{job.het->leader.value + offset};
                if (known.insert(selector.job).second) more.push_back(selector);
            }
        }
    }
    return more;
}

bool is_wanted(const SacctOptions& options, const model::Job& job, const model::Step& step) {
    const auto& selectors = options.query.filter.jobs;
    return selectors.empty() || std::ranges::any_of(selectors, [&](const auto& selector) {
               return is_of(selector, job) && (!selector.step || *selector.step == step.key.step);
           });
}

}  // namespace switchyard::cli
