// journals.cpp: what nodes say they began since a backup was made (nodes/restore.hpp).

#include <algorithm>
#include <utility>

#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {

// What is known by now has to do.
void Cluster::Impl::end_restoring() {
    if (!restore_.end()) return;
    for (NodeIndex i = 0; i < nodes_.size(); ++i) launch_unbegun(i);
    review_each(jobs_.ids());
}

// The last of what the node began since the backup, and we know nothing of, is gone.
void Cluster::Impl::ghosts_left(NodeIndex index) {
    if (!restore_.is_backup()) return;
    launch_unbegun(index);
    for (const JobId id : std::set<JobId>(machines_.side(index).jobs)) job_steps_.retry_waiting(id);
}

// The job that a node began, if the backup has it and knows less of it than the node.
Job* Cluster::Impl::begun_job(NodeIndex node, const event::NodeBegan::Script& script) {
    Job* job = find_job(script.job);
    const ArraySide* array = script.array ? arrays_.find(*script.array) : nullptr;
    if (array != nullptr) {
        job = nullptr;
        for (const JobId id : array->records) {
            Job& record = jobs_.at(id);
            const bool own = record.array->element == script.element;
            const bool inside = !record.array->element &&
                                record.array->pending.contains(script.element) &&
                                std::holds_alternative<model::Pending>(record.phase);
            if (own || inside) job = &record;
        }
    }
    if (job == nullptr || script.attempt < job->attempt || !restore_.is_of_backup(*job))
        return nullptr;
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
    if (!index || !machines_.side(*index).owes_journal || !machines_.side(*index).listed) return;
    NodeSide& side = machines_.side(*index);
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
    machines_.refresh(*index);
    if (std::ranges::none_of(machines_.sides(), &NodeSide::owes_journal)) end_restoring();
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
    if (!restore_.is_backup() || restore_.is_under_way()) return;
    const NodeSide& side = machines_.side(index);
    if (!nodes_[index].responding || side.owes_journal || !side.ghosts.empty()) return;
    const std::string name = nodes_[index].config.name;
    for (const JobId id : side.jobs) {
        const Job& job = jobs_.at(id);
        const auto step = steps_.find({id, job.attempt, kBatchStep});
        const bool frozen = std::holds_alternative<model::Suspended>(job.phase);
        const bool runs = frozen || std::holds_alternative<model::Running>(job.phase);
        if (!runs || has_begun(job) || !restore_.is_of_backup(job)) continue;
        if (step == steps_.end() || step->second.end || step->second.running_nodes.empty() ||
            step->second.running_nodes.front() != name)
            continue;
        emit(effect::LaunchBatch{name, id, job.attempt});
        if (frozen) emit(effect::Freeze{name, id, job.attempt, false});
    }
}

}  // namespace switchyard::core
