// step_watch.cpp: those who look on: swait is told of the ends of steps.

#include <algorithm>

#include "core/cluster/steps/steps.hpp"

namespace switchyard::core {
namespace {

bool is_regular(StepId step) {
    return step != kBatchStep && step != kExternStep && step != kInteractiveStep;
}

}  // namespace

// Steps of srun that run, and those that wait for room without one.
bool Steps::has_steps(JobId job) const {
    const Side* side = find_side(job);
    return side != nullptr && (std::ranges::any_of(side->active, is_regular) ||
                               std::ranges::any_of(side->waiting, [](const Waiting& step) {
                                   return step.record.has_value();
                               }));
}

bool Steps::has_step(JobId job, StepId step) const {
    const Side* side = find_side(job);
    return has_steps(job) && (side->active.contains(step) ||
                              std::ranges::any_of(side->waiting, [&](const Waiting& one) {
                                  return one.record == step;
                              }));
}

void Steps::on(const event::WaitForSteps& event) {
    const Job* job = world_.find_job(event.job);
    if (job == nullptr) return world_.refuse(event.token, Errc::InvalidJobId);
    if (!world_.rights_of(event.caller).may_change_job(job->spec->uid))
        return world_.refuse(event.token, Errc::AccessDenied);
    if (std::holds_alternative<model::Pending>(job->phase))
        return world_.refuse(event.token, Errc::JobPending);
    if (event.step ? !has_step(event.job, *event.step) : !has_steps(event.job))
        return world_.reply(event.token, reply::StepEnds{});
    waiters_.watch_steps(event.token, event.job, event.step);
}

void Steps::tell_watchers(const StepKey& ended) {
    if (is_regular(ended.step)) waiters_.step_ended(ended, !has_steps(ended.job));
}

}  // namespace switchyard::core
