// node_events.cpp: nodes come, fall silent, and fail; what becomes of the jobs on them.

#include <algorithm>

#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {
namespace {

constexpr const char* kNotResponding = "Not responding";

}  // namespace

void Cluster::Impl::on(const event::NodeUp& event) {
    const auto index = node_index(event.node);
    if (!index) return;
    machines_.adopt_facts(*index, event.facts);
    model::Node& node = nodes_[*index];
    machines_.answers(*index);
    if (node.down) {
        const bool was_silent = node.mark && node.mark->reason == kNotResponding;
        const bool returns =
            settings_.return_to_service >= 2 || (settings_.return_to_service == 1 && was_silent);
        if (returns) {
            node.down = false;
            if (!node.drain) node.mark.reset();
            touch_node(*index);
        }
    }
    machines_.reboot_done(*index, event.facts.booted);
    if (machines_.side(*index).owes_journal) {
        machines_.side(*index).listed = event.steps;
    } else {
        reconcile(*index, event.steps);
    }
    machines_.refresh(*index);
}

void Cluster::Impl::on(const event::NodeLost& event) {
    const auto index = node_index(event.node);
    if (!index || !nodes_[*index].responding) return;
    machines_.falls_silent(*index);
    machines_.refresh(*index);
    if (nodes_[*index].down) {
        // Already given up: do not wait for answers that cannot come.
        for (const JobId id : std::set<JobId>(machines_.side(*index).jobs))
            node_failed_job(jobs_.at(id), event.node);
    }
}

// The node is drained, so that somebody looks at it. A job whose Prolog failed did not begin: a
// script goes back into the queue, held; an allocation is over.
void Cluster::Impl::on(const event::ScriptFailed& event) {
    const auto index = node_index(event.node);
    if (!index) return;
    model::Node& node = nodes_[*index];
    if (!node.drain) {
        node.drain = true;
        node.mark =
            model::NodeMark{event.epilog ? "Epilog error" : "Prolog error", kController, now_};
        touch_node(*index);
        machines_.refresh(*index);
    }
    Job* job = find_job(event.job);
    if (event.epilog || job == nullptr || job->attempt != event.attempt ||
        !std::holds_alternative<model::Running>(job->phase) || !speaks_for(event.node, *job))
        return;
    using Next = model::Completing::Next;
    model::Outcome outcome;
    outcome.reason = model::Reason::JobLaunchFailure;
    job->system_comment = "Prolog failed on node " + event.node;
    if (job->spec->kind != model::JobKind::Batch) {
        outcome.state = model::JobState::Cancelled;
        waiters_.notify_owner(*job, reply::OwnerNotice::Kind::Cancelled);
        return end_run(*job, outcome, EndCause::Cancelled, settings_.kill_wait, Next::End);
    }
    outcome.state = model::JobState::NodeFail;
    const bool again = job->spec->requeue.value_or(settings_.requeue_by_default);
    const Next next = !again                             ? Next::End
                      : settings_.hold_on_prolog_failure ? Next::RequeueHold
                                                         : Next::Requeue;
    end_run(*job, outcome, EndCause::Requeued, settings_.kill_wait, next);
}

void Cluster::Impl::node_timer(NodeIndex index) {
    const NodeSide& side = machines_.side(index);
    if (nodes_[index].responding || !side.silent_since) return;
    if (*side.silent_since + settings_.node_timeout > now_) return;
    // Away to reboot: it has its own time for that.
    if (nodes_[index].reboot && nodes_[index].reboot->issued) return;
    node_down(index, kNotResponding, kController);
}

void Cluster::Impl::node_down(NodeIndex index, const std::string& reason, const std::string& by) {
    model::Node& node = nodes_[index];
    if (!node.down || by != kController) {
        const bool keep_mark = by == kController && node.drain && node.mark;
        if (!keep_mark) node.mark = model::NodeMark{reason, by, now_};
    }
    node.down = true;
    touch_node(index);
    machines_.refresh(index);
    const std::string name = node.config.name;
    for (const JobId id : std::set<JobId>(machines_.side(index).jobs))
        node_failed_job(jobs_.at(id), name);
}

// The node is down. What the job had there is lost, and the job with it unless it said otherwise.
void Cluster::Impl::node_failed_job(Job& job, const std::string& node) {
    const auto index = node_index(node);
    // The end of another component was its own: it holds nothing here any more.
    if (index && !machines_.side(*index).jobs.contains(job.id)) return;
    const bool silent = !index || !nodes_[*index].responding;
    if (std::holds_alternative<model::Completing>(job.phase)) {
        if (silent) node_is_clean(job, node);
        return;
    }
    waiters_.notify_owner(job, reply::OwnerNotice::Kind::NodeFailed, node);
    model::Allocation allocation = *model::allocation_of(job);
    const bool first = allocation.nodes.front().node == node;
    const bool survives = job.spec->no_kill && allocation.nodes.size() > 1 &&
                          !(first && job.spec->kind == model::JobKind::Batch);
    if (survives && silent) {
        job_steps_.close_on(job, node);
        release_on(job, node);
        std::erase_if(allocation.nodes,
                      [&](const model::NodeGrant& grant) { return grant.node == node; });
        auto* running = std::get_if<model::Running>(&job.phase);
        (running != nullptr ? *running : std::get<model::Suspended>(job.phase).run).allocation =
            std::move(allocation);
        touch(job);
        return;
    }
    model::Outcome outcome;
    outcome.state = model::JobState::NodeFail;
    outcome.reason = model::Reason::NodeFail;
    const JobSpec& deciding = *hets_.leader_of(job).spec;
    const bool again =
        deciding.kind == model::JobKind::Batch && restore_.may_run_again(hets_.leader_of(job));
    using Next = model::Completing::Next;
    end_run(job, outcome, EndCause::NodeFailed, settings_.kill_wait,
            again ? Next::Requeue : Next::End);
}

void Cluster::Impl::reboot_timer(NodeIndex index) {
    if (!machines_.reboot_timed_out(index)) return;
    const model::NodeMark mark = *nodes_[index].mark;
    node_down(index, mark.reason, mark.by);
}

}  // namespace switchyard::core
