// cancel.cpp: scancel: ending jobs, and signals that do not.

#include <algorithm>
#include <csignal>

#include "core/cluster/check_texts.hpp"
#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {
namespace {

constexpr int kSignalMax = 64;

std::string shown(const model::JobSelector& selector) {
    std::string text = std::to_string(selector.job.value);
    if (selector.elements) text += "_" + to_string(*selector.elements);
    if (selector.step) text += "." + model::step_name(*selector.step);
    return text;
}

}  // namespace

// Those that a filter without ids may mean.
std::vector<JobId> Cluster::Impl::candidates(const event::Signal& event) const {
    const std::vector<std::uint32_t>& named = event.filter.uids;
    // Who names nobody means their own; only administrators reach further.
    if (named.empty())
        return rights_of(event.caller).may_change_all_jobs() ? jobs_.ids()
                                                             : jobs_.of_user(event.caller.uid);
    std::vector<JobId> ids;
    for (const std::uint32_t uid : std::set<std::uint32_t>(named.begin(), named.end())) {
        const std::vector<JobId> more = jobs_.of_user(uid);
        ids.insert(ids.end(), more.begin(), more.end());
    }
    std::ranges::sort(ids);
    return ids;
}

void Cluster::Impl::on(const event::Signal& event) {
    const model::Rights rights = rights_of(event.caller);
    // Its own jobs are no exception.
    if (!event.admin_comment.empty() && !rights.may_set_admin_fields())
        return refuse(event.token, Errc::InvalidUserId);
    Status fine = check_comment(event.admin_comment, "admin comment");
    if (event.signal < 0 || event.signal > kSignalMax) fine = fail(Errc::InvalidArgument);
    if (!fine) return reply(event.token, reply::Failed{fine.error(), {}});
    reply::Done done;
    const auto apply = [&](JobId id, std::optional<StepId> step, bool by_filter) {
        Job* job = find_job(id);
        if (job == nullptr || !model::matches(event.filter, *job)) return;
        if (by_filter && model::is_finished(*job)) return;
        ++done.matched;
        std::string name = model::display_id(*job);
        if (step) name += "." + model::step_name(*step);
        if (!rights.may_change_job(job->spec->uid)) {
            // A filter that did not name users means "of mine".
            if (by_filter && event.filter.uids.empty()) {
                --done.matched;
            } else {
                done.problems.push_back({name, Errc::AccessDenied});
            }
            return;
        }
        if (const auto problem = signal_one(id, event, step)) {
            done.problems.push_back({name, *problem});
        } else {
            done.touched.push_back(name);
            if (!step) comment_on(id, event.admin_comment);
        }
    };
    if (event.filter.jobs.empty()) {
        for (const JobId id : candidates(event)) {
            jobs_.fold_idle();
            apply(id, std::nullopt, true);
        }
    }
    for (const model::JobSelector& selector : event.filter.jobs) {
        const Job* owned = nullptr;
        for (const Job* job : arrays_.find(selector)) owned = job;
        if (owned == nullptr) {
            done.problems.push_back({shown(selector), Errc::InvalidJobId});
            continue;
        }
        // Only those who may act on the array may break it up.
        const bool ends = event.signal == 0 || event.signal == SIGKILL;
        const std::vector<JobId> ids =
            select(selector, ends && rights.may_change_job(owned->spec->uid));
        const bool whole_array = ids.size() > 1;
        for (const JobId id : ids) {
            const Job* job = find_job(id);
            // Elements that are over do not matter when the array is cancelled.
            if (whole_array && job != nullptr && model::is_finished(*job)) continue;
            apply(id, selector.step, false);
        }
    }
    reply(event.token, std::move(done));
}

void Cluster::Impl::comment_on(JobId id, const std::string& admin_comment) {
    Job* job = find_job(id);
    if (job == nullptr || admin_comment.empty()) return;
    job->admin_comment = admin_comment;
    touch(*job);
}

std::optional<Errc> Cluster::Impl::signal_one(JobId id, const event::Signal& event,
                                              std::optional<StepId> step) {
    Job& job = jobs_.at(id);
    if (std::holds_alternative<model::Ended>(job.phase)) return Errc::JobFinished;
    const bool pending = std::holds_alternative<model::Pending>(job.phase);
    const bool ends = event.signal == 0 || (event.signal == SIGKILL && !event.batch_only);
    if (step) {
        if (pending) return Errc::InvalidStepId;
        const auto found = steps_.find(StepKey{id, job.attempt, *step});
        if (found == steps_.end()) return Errc::InvalidStepId;
        // The part in another component was meant as well, and took this one with it.
        const auto& end = found->second.end;
        if (job.het && end && end->ended == now_ && !model::start_of(found->second))
            return std::nullopt;
        if (end) return Errc::InvalidStepId;
        if (model::is_pending(found->second)) {
            if (!ends) return Errc::InvalidStepId;
            job_steps_.end_queued(found->first, model::JobState::Cancelled);
            return std::nullopt;
        }
        if (!ends) {
            signal_running(job, event, step);
            return std::nullopt;
        }
        for (const std::string& node : found->second.running_nodes) {
            emit(effect::EndStep{node, found->first, EndCause::Cancelled});
        }
        return std::nullopt;
    }
    if (ends) {
        // Before it starts, only the whole of a heterogeneous job can be taken back.
        if (pending && is_follower(job)) return Errc::JobPending;
        if (std::holds_alternative<model::Completing>(job.phase)) {
            if (std::get<model::Completing>(job.phase).next == model::Completing::Next::End)
                return Errc::JobFinished;
            // On its way back into the queue: it shall not come back, nor those it would lead.
            const auto outcome = outcome_without_exit(model::JobState::Cancelled,
                                                      model::Reason::None, event.caller.uid);
            stop_return(job, outcome);
            if (job.het && !is_follower(job)) end_pending_companions(job, outcome);
            return std::nullopt;
        }
        cancel(job, event.caller, event.signal == SIGKILL ? Seconds{0} : settings_.kill_wait);
        return std::nullopt;
    }
    if (pending) return Errc::JobPending;
    if (std::holds_alternative<model::Completing>(job.phase)) return Errc::JobFinished;
    signal_running(job, event, std::nullopt);
    return std::nullopt;
}

void Cluster::Impl::cancel(Job& job, const Caller& caller, Seconds grace) {
    model::Outcome outcome;
    outcome.state = model::JobState::Cancelled;
    outcome.cancelled_by = caller.uid;
    if (std::holds_alternative<model::Pending>(job.phase)) return end_pending(job, outcome);
    waiters_.notify_owner(job, reply::OwnerNotice::Kind::Cancelled);
    end_run(job, outcome, EndCause::Cancelled, grace, model::Completing::Next::End);
}

}  // namespace switchyard::core
