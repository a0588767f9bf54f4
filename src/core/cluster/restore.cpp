// restore.cpp: the records are a backup. Jobs of it may have run since it was made, so nodes are
// asked which scripts they began (event::NodeBegan), and none of these is begun again: it ended as
// the node's journal says, or, where nobody knows, as NODE_FAIL.
//
// Until all nodes have answered, or SlurmdTimeout has passed, no job of the backup starts, and what
// was submitted since starts only where the answer is known. A node that comes later is asked
// before anything is launched on it.

#include <algorithm>
#include <utility>

#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {

void Cluster::Impl::begin_restoring() {
    restored_at_ = now_;
    restored_before_ = next_job_id_;
    restoring_ = true;
    for (NodeSide& side : node_sides_) side.owes_journal = true;
    timers_.set({TimerKey::Kind::Restore, 0}, now_ + settings_.node_timeout);
}

// What is known by now has to do.
void Cluster::Impl::end_restoring() {
    if (!std::exchange(restoring_, false)) return;
    timers_.set({TimerKey::Kind::Restore, 0}, std::nullopt);
    for (NodeIndex i = 0; i < nodes_.size(); ++i) launch_unbegun(i);
    review_each(jobs_.ids());
}

// As it was in the backup: it has not started since.
bool Cluster::Impl::is_of_backup(const Job& job) const {
    if (!restored_at_ || job.id >= restored_before_) return false;
    const auto started = model::start_of(job);
    return !started || *started <= *restored_at_;
}

bool Cluster::Impl::waits_for_journals(const Job& job) const {
    return restoring_ && job.id < restored_before_;
}

// Whether a job whose run was lost goes back into the queue. Of a run of the backup nobody can say
// that it did not end well since.
bool Cluster::Impl::may_run_again(const Job& job) const {
    const bool ran = model::run_of(job) != nullptr;
    return job.spec->requeue.value_or(settings_.requeue_by_default) && !(ran && is_of_backup(job));
}

// Whether one of its nodes has to say first what it began, or to end what now has its cores.
bool Cluster::Impl::waits_for_nodes(const Job& job) const {
    if (!restored_at_) return false;
    return std::ranges::any_of(model::allocation_of(job)->nodes, [&](const auto& grant) {
        const auto index = node_index(grant.node);
        return index && (node_sides_[*index].owes_journal ||
                         (is_of_backup(job) && !node_sides_[*index].ghosts.empty()));
    });
}

// The last of what the node began since the backup, and we know nothing of, is gone.
void Cluster::Impl::ghosts_left(NodeIndex index) {
    if (!restored_at_) return;
    launch_unbegun(index);
    for (const JobId id : std::set<JobId>(node_sides_[index].jobs)) retry_waiting_steps(id);
}

// The job that a node began, if the backup has it and knows less of it than the node.
Job* Cluster::Impl::begun_job(NodeIndex node, const event::NodeBegan::Script& script) {
    Job* job = find_job(script.job);
    const auto array = script.array ? arrays_.find(*script.array) : arrays_.end();
    if (array != arrays_.end()) {
        job = nullptr;
        for (const JobId id : array->second.records) {
            Job& record = jobs_.at(id);
            const bool own = record.array->element == script.element;
            const bool inside = !record.array->element &&
                                record.array->pending.contains(script.element) &&
                                std::holds_alternative<model::Pending>(record.phase);
            if (own || inside) job = &record;
        }
    }
    if (job == nullptr || script.attempt < job->attempt || !is_of_backup(*job)) return nullptr;
    if (script.submitted && *script.submitted != job->submitted) return nullptr;
    if (model::run_of(*job) != nullptr) return job;
    // One that waits can have run only where it may run.
    const auto& names = job->spec->partitions;
    const auto has_node = [&](const std::string& name) {
        return std::ranges::find(nodes_[node].partitions, name) != nodes_[node].partitions.end();
    };
    return std::ranges::any_of(names, has_node) ? job : nullptr;
}

void Cluster::Impl::on(const event::NodeBegan& event) {
    const auto index = node_index(event.node);
    if (!index || !node_sides_[*index].owes_journal || !node_sides_[*index].listed) return;
    NodeSide& side = node_sides_[*index];
    side.owes_journal = false;
    const std::vector<StepKey> listed = *std::exchange(side.listed, std::nullopt);
    for (const event::NodeBegan::Script& script : event.scripts) {
        const StepKey key{script.job, script.attempt, kBatchStep};
        const bool runs = std::ranges::find(listed, key) != listed.end();
        Job* job = begun_job(*index, script);
        if (job == nullptr) continue;
        // It runs on, and the record knows: nothing is to be settled. In the record of one that was
        // still behind its PrologSlurmctld there is no script to run on.
        const bool known =
            side.jobs.contains(job->id) && job->attempt == script.attempt && steps_.contains(key);
        if (!(runs && known)) settle_begun(*job, *index, script);
    }
    reconcile(*index, listed);
    refresh_node(*index);
    if (std::ranges::none_of(node_sides_, &NodeSide::owes_journal)) end_restoring();
}

// The node began it after the backup was made, and it is over there, or will be soon.
void Cluster::Impl::settle_begun(Job& job, NodeIndex index,
                                 const event::NodeBegan::Script& script) {
    const std::string node = nodes_[index].config.name;
    model::Outcome outcome;
    outcome.state = model::JobState::NodeFail;
    outcome.reason = model::Reason::NodeFail;
    if (script.exit) {
        outcome.exit = *script.exit;
        outcome.state = script.exit->ok() ? model::JobState::Completed : model::JobState::Failed;
        outcome.reason = script.exit->ok()          ? model::Reason::None
                         : script.exit->signal != 0 ? model::Reason::RaisedSignal
                                                    : model::Reason::NonZeroExitCode;
    }
    const auto tell = [&](Job& over) {
        over.system_comment = "restored from a backup: its script began on node " + node;
        touch(over);
    };
    if (std::holds_alternative<model::Pending>(job.phase)) {
        Job* over = &job;
        if (job.array && !job.array->element && job.array->pending.size() > 1) {
            if (!script.array) return;  // Which of them it was, nobody can say.
            over = &split_element(job, script.element);
            // It ran under the number of the whole array, which the rest still has: the node would
            // take the next element's first attempt for the one that it knows.
            if (script.job == job.id && script.attempt >= job.attempt) {
                job.attempt = Attempt{script.attempt.value + 1};
                touch(job);
            }
        } else if (job.array && !job.array->element) {
            job.array->element = job.array->pending.front();
            job.array->pending = {};
        }
        tell(*over);
        return end_pending(*over, outcome);
    }
    if (std::holds_alternative<model::Completing>(job.phase)) {
        stop_return(job, outcome);
        if (job.het && !is_follower(job)) end_pending_companions(job, outcome);
        return;
    }
    if (std::holds_alternative<model::Ended>(job.phase)) return;
    tell(job);
    end_run(job, outcome, EndCause::NodeFailed, settings_.kill_wait, model::Completing::Next::End);
}

// Scripts of the backup that were to begin, and that no node says it began: once all have said so,
// and nothing else has the cores.
void Cluster::Impl::launch_unbegun(NodeIndex index) {
    if (!restored_at_ || restoring_) return;
    const NodeSide& side = node_sides_[index];
    if (!nodes_[index].responding || side.owes_journal || !side.ghosts.empty()) return;
    const std::string name = nodes_[index].config.name;
    for (const JobId id : side.jobs) {
        const Job& job = jobs_.at(id);
        const auto step = steps_.find({id, job.attempt, kBatchStep});
        const bool frozen = std::holds_alternative<model::Suspended>(job.phase);
        const bool runs = frozen || std::holds_alternative<model::Running>(job.phase);
        if (!runs || has_begun(job) || !is_of_backup(job)) continue;
        if (step == steps_.end() || step->second.end || step->second.running_nodes.empty() ||
            step->second.running_nodes.front() != name)
            continue;
        emit(effect::LaunchBatch{name, id, job.attempt});
        if (frozen) emit(effect::Freeze{name, id, job.attempt, false});
    }
}

}  // namespace switchyard::core
