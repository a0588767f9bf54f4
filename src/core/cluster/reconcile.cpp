// reconcile.cpp: a node registers and lists what lives on it; belief and fact are brought together.
//
// The list is true: an agent names every step whose stepd runs or whose end it has not been able to
// report. So what it lists and we do not want is ended; what we want and it does not list either
// never arrived, and is sent again, or is known to have begun, and is lost. That a script began is
// part of its record (nodes/begun.hpp), so that this holds after a restart too.

#include <algorithm>

#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {
namespace {

EndCause cause_of(const model::Outcome& outcome) {
    switch (outcome.state) {
        case model::JobState::Cancelled:
            return EndCause::Cancelled;
        case model::JobState::Timeout:
            return EndCause::TimeLimit;
        case model::JobState::NodeFail:
            return EndCause::NodeFailed;
        case model::JobState::Preempted:
            return EndCause::Preempted;
        case model::JobState::Requeued:
            return EndCause::Requeued;
        default:
            return EndCause::Finished;
    }
}

StepReport lost_step(const StepKey& key) {
    StepReport report;
    report.key = key;
    report.lost = true;
    return report;
}

bool lends_cores(const Job& job) {
    const auto& preempted = model::run_of(job)->preempted;
    return preempted && preempted->lends_cores;
}

}  // namespace

void Cluster::Impl::reconcile(NodeIndex index, const std::vector<StepKey>& steps) {
    const std::string name = nodes_[index].config.name;
    NodeSide& node = machines_.side(index);
    const std::set<StepKey> listed(steps.begin(), steps.end());
    node.ghosts.clear();
    for (const StepKey& key : listed) {
        const bool ours = node.jobs.contains(key.job) && jobs_.at(key.job).attempt == key.attempt;
        if (ours) continue;
        if (node.ghosts.insert({key.job, key.attempt}).second) {
            emit(effect::EndJob{name, key.job, key.attempt, EndCause::NodeFailed, Seconds{0}});
        }
    }
    // Those who lend their cores first: they must stand still before the others begin.
    std::vector<JobId> ids;
    for (const bool lends : {true, false}) {
        for (const JobId id : node.jobs) {
            if (lends_cores(jobs_.at(id)) == lends) ids.push_back(id);
        }
    }
    for (const JobId id : ids) {
        Job& job = jobs_.at(id);
        const Instant started = model::run_of(job)->started;
        const bool rebooted = nodes_[index].facts && nodes_[index].facts->booted > started;
        reconcile_job(job, name, listed, rebooted);
    }
    launch_unbegun(index);
}

void Cluster::Impl::reconcile_job(Job& job, const std::string& node,
                                  const std::set<StepKey>& listed, bool rebooted) {
    if (const auto* completing = std::get_if<model::Completing>(&job.phase)) {
        if (lends_cores(job)) emit(effect::Freeze{node, job.id, job.attempt, false});
        emit(effect::EndJob{node, job.id, job.attempt, cause_of(completing->outcome),
                            settings_.kill_wait});
        return;
    }
    const JobId id = job.id;
    const Attempt attempt = job.attempt;
    // It may not have been told, or may have forgotten; told twice, it does it once.
    if (settings_.prepare_nodes && !is_configuring(job))
        emit(effect::PrepareJob{node, id, attempt});
    bool any_listed = false;
    for (const StepKey& key : listed) {
        if (key.job != id || key.attempt != attempt) continue;
        any_listed = true;
        job_steps_.seen(key, node);
        if (key.step == kBatchStep) begun_.note(job);
        job_steps_.number_beyond(job, key.step);
        const auto step = steps_.find(key);
        const bool wanted =
            step != steps_.end() && !step->second.end &&
            std::ranges::find(step->second.running_nodes, node) != step->second.running_nodes.end();
        if (!wanted) emit(effect::EndStep{node, key, EndCause::Finished});
    }
    // What may have been decided while it could not be told.
    if (any_listed) {
        const bool frozen = std::holds_alternative<model::Suspended>(job.phase);
        // Of what was decided after a backup was made, its records know nothing.
        if (frozen || restore_.is_backup() || model::run_of(job)->suspended_for > Seconds{0})
            emit(effect::Freeze{node, id, attempt, !frozen});
        emit(effect::SetDeadline{node, id, attempt, world_.deadline_of(job)});
        const auto& preempted = model::run_of(job)->preempted;
        if (preempted && preempted->grace_ends) planning_.preemption.warn(job);
    }
    const std::set<StepId> active = job_steps_.active(id);
    for (const StepId step_id : active) {
        const StepKey key{id, attempt, step_id};
        const auto step = steps_.find(key);
        if (step == steps_.end() || listed.contains(key)) continue;
        if (std::ranges::find(step->second.running_nodes, node) == step->second.running_nodes.end())
            continue;
        const bool begun = step_id == kBatchStep && has_begun(job);
        // Of a backup, steps have had their time; whether scripts have is seen in launch_unbegun().
        const bool over = step_id != kBatchStep && restore_.began_before(step->second.started);
        if (rebooted || begun || over || job_steps_.was_seen(key, node)) {
            const StepReport report = lost_step(key);
            job_steps_.ended_on(job, step->second, node, report);
            if (step_id == kBatchStep) return batch_ended(job, report, node);
        } else if (step_id == kBatchStep) {
            if (restore_.is_of_backup(job)) continue;
            emit(effect::LaunchBatch{node, id, attempt});
            if (std::holds_alternative<model::Suspended>(job.phase))
                emit(effect::Freeze{node, id, attempt, false});
        } else if (job_steps_.was_launched_here(key)) {
            job_steps_.launch_on(node, key);
        } else {
            // Only its srun can launch it again. It has until the grace is over to come back.
            job_steps_.doubt(key, node);
        }
    }
    job_steps_.retry_waiting(id);
}

}  // namespace switchyard::core
