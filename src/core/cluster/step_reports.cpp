// step_reports.cpp: what nodes say of steps: that they began, ended, and that nothing is left of a
// job.

#include <algorithm>

#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {

void Cluster::Impl::on(const event::StepStarted& event) {
    Job* job = find_job(event.key.job);
    if (job == nullptr || job->attempt != event.key.attempt || model::is_finished(*job)) return;
    if (!speaks_for(event.node, *job)) return;
    job_steps_.seen(event.key, event.node);
    if (event.key.step == kBatchStep) begun_.note(*job);
}

void Cluster::Impl::on(const event::StepEnded& event) {
    const StepReport& report = event.report;
    // Whatever becomes of it: once this step is on disk, the node may forget the step.
    emit(effect::StepEndKnown{event.node, report.key});
    Job* job = find_job(report.key.job);
    const auto step = steps_.find(report.key);
    if (job == nullptr || step == steps_.end()) return;
    const bool present = job->attempt == report.key.attempt &&
                         !std::holds_alternative<model::Ended>(job->phase) &&
                         !std::holds_alternative<model::Pending>(job->phase);
    const bool awaited = std::ranges::find(step->second.running_nodes, event.node) !=
                         step->second.running_nodes.end();
    if (awaited) job_steps_.ended_on(*job, step->second, event.node, report);
    if (!present || !speaks_for(event.node, *job)) return;
    // The node said "nothing else is left" before it heard of a step that was launched meanwhile.
    StepReport judged = report;
    judged.job_clean = report.job_clean && !job_steps_.runs_on(*job, event.node);
    if (awaited && report.key.step == kBatchStep) {
        batch_ended(*job, judged, event.node);
    } else if (judged.job_clean) {
        node_is_clean(*job, event.node);
    }
    // A step over several components waits with the first of them.
    for (const JobId id : hets_.components_of(*job)) job_steps_.retry_waiting(id);
}

void Cluster::Impl::on(const event::JobClean& event) {
    if (const auto node = node_index(event.node)) {
        auto& ghosts = machines_.side(*node).ghosts;
        if (ghosts.erase({event.job, event.attempt}) > 0) {
            machines_.refresh(*node);
            if (ghosts.empty()) ghosts_left(*node);
        }
    }
    Job* job = find_job(event.job);
    if (job == nullptr || job->attempt != event.attempt || !speaks_for(event.node, *job)) return;
    node_is_clean(*job, event.node);
}

// The script is over, and with it the run.
void Cluster::Impl::batch_ended(Job& job, const StepReport& report, const std::string& node) {
    if (auto* completing = std::get_if<model::Completing>(&job.phase)) {
        // It was already ending for another reason; only the exit is news.
        const model::JobState state = completing->outcome.state;
        if (state == model::JobState::Cancelled || state == model::JobState::Timeout) {
            completing->outcome.exit = report.exit;
            touch(job);
        }
        if (report.job_clean) node_is_clean(job, node);
        return;
    }
    using Next = model::Completing::Next;
    model::Outcome outcome;
    outcome.exit = report.exit;
    Next next = Next::End;
    EndCause cause = EndCause::Finished;
    if (!report.launch_error.empty() && report.exit.ok()) {
        outcome.state = model::JobState::NodeFail;
        outcome.reason = model::Reason::JobLaunchFailure;
        const std::uint32_t failures = launcher_.count_failure(job.id);
        next = failures >= kLaunchAttemptsMax ? Next::RequeueHold : Next::Requeue;
        job.system_comment = report.launch_error;
        cause = EndCause::Requeued;
    } else if (report.lost) {
        outcome.state = model::JobState::NodeFail;
        outcome.reason = model::Reason::NodeFail;
        if (restore_.may_run_again(job)) next = Next::Requeue;
        if (report.begun_before) job.system_comment = "its script had begun before on node " + node;
        cause = EndCause::NodeFailed;
    } else if (report.timed_out) {
        outcome.state = model::JobState::Timeout;
        outcome.reason = model::Reason::TimeLimit;
        if (outcome.exit.ok()) outcome.exit.signal = 15;
        cause = EndCause::TimeLimit;
    } else if (report.out_of_memory) {
        outcome.state = model::JobState::OutOfMemory;
        outcome.reason = model::Reason::OutOfMemory;
        outcome.exit = {0, 125};
    } else if (!report.exit.ok()) {
        outcome.state = model::JobState::Failed;
        outcome.reason =
            report.exit.signal != 0 ? model::Reason::RaisedSignal : model::Reason::NonZeroExitCode;
        if (!report.launch_error.empty()) job.system_comment = report.launch_error;
    }
    std::set<std::string> clean;
    if (report.job_clean) clean.insert(node);
    end_run(job, outcome, cause, settings_.kill_wait, next, clean);
}

}  // namespace switchyard::core
