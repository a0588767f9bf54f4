// lifecycle.cpp: the way of one run of a job: start, end, clean-up, and back into the queue where
// that is due.

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {

void Cluster::Impl::start(Job& job, PartitionIndex partition, model::Allocation allocation,
                          bool backfilled, const Terms& terms) {
    SY_ASSERT(std::holds_alternative<model::Pending>(job.phase));
    SY_ASSERT(!allocation.nodes.empty());
    unqueue(job.id);
    planning_.backfill.drop(job.id);
    planning_.preemption.drop_hold(job.id);
    unindex_dependency(job);
    job.eligible = std::max(std::get<model::Pending>(job.phase).eligible_at, job.submitted);
    model::Running run;
    run.allocation = std::move(allocation);
    run.started = now_;
    if (const model::Reservation* reservation = find_reservation(terms.owner))
        run.reservation = reservation->name;
    run.licenses = model::format_licenses(terms.licenses);
    run.ends_by = end_of_run(*job.spec, run);
    run.configuring = settings_.run_prolog;
    job.partition = partitions_[partition].name;
    run.preemptable_at = planning_.preemption.preemptable_from(job, now_);
    job.last_evaluated = now_;
    job.scheduler = backfilled ? "Backfill" : "Main";
    job.phase = std::move(run);
    touch(job);
    claim(job);
    calendar_is_stale_ = !calendar_.empty();
    if (terms.owner != sched::kNobody)
        reservation_used(std::get<model::Running>(job.phase).reservation);
    array_run_began(job);
    ++figures_.jobs_started;
    if (backfilled) ++figures_.jobs_backfilled;
    if (settings_.run_prolog) {
        emit(effect::RunProgram{job.id, job.attempt});
        // It is told again when the nodes are ready.
        if (const JobSide* own = find_side(job.id); own && own->owner)
            reply(*own->owner, reply::Granted{job.id}, false);
    } else {
        begin(job);
    }
    mail(job, model::MailEvent::Begin);
    retime(job);
    wake_dependents(job);
}

// Its nodes are ready for it.
void Cluster::Impl::begin(Job& job) {
    prepare_nodes(job);
    if (job.spec->kind == model::JobKind::Batch) {
        launch_batch(job);
    } else if (const JobSide* own = find_side(job.id); own && own->owner) {
        reply(*own->owner, reply::Granted{job.id}, job.spec->detached);
    }
}

// PrologFlags=Alloc: all nodes of the job hear of it, not only those that get a step.
void Cluster::Impl::prepare_nodes(const Job& job) {
    if (!settings_.prepare_nodes) return;
    for (const model::NodeGrant& grant : model::allocation_of(job)->nodes)
        emit(effect::PrepareJob{grant.node, job.id, job.attempt});
}

// The batch script is a step like any other: one task on the first node.
void Cluster::Impl::launch_batch(Job& job) {
    const model::Allocation& allocation = *model::allocation_of(job);
    model::Step step;
    step.key = {job.id, job.attempt, kBatchStep};
    step.spec.name = "batch";
    step.spec.tasks = 1;
    step.layout.nodes.push_back({allocation.nodes.front(), {0}});
    step.submitted = step.started = now_;
    step.running_nodes = {allocation.nodes.front().node};
    touch(step);
    JobSide& own = side(job.id);
    own.active_steps.insert(kBatchStep);
    own.launched_here.insert(kBatchStep);
    // Where the records are a backup, its nodes say first what they began since.
    const bool waits = is_of_backup(job) && (restoring_ || waits_for_nodes(job));
    if (!waits) emit(effect::LaunchBatch{allocation.nodes.front().node, job.id, job.attempt});
    steps_.insert_or_assign(step.key, std::move(step));
}

void Cluster::Impl::end_run(Job& job, model::Outcome outcome, EndCause cause, Seconds grace,
                            model::Completing::Next next,
                            const std::set<std::string>& clean_already) {
    model::Completing completing;
    if (auto* running = std::get_if<model::Running>(&job.phase)) {
        completing.run = std::move(*running);
    } else {
        auto& suspended = std::get<model::Suspended>(job.phase);
        completing.run = std::move(suspended.run);
        completing.run.suspended_for += std::chrono::duration_cast<Seconds>(now_ - suspended.since);
    }
    stop_prolog(job, completing.run);
    outcome.derived_exit = worst_step_exit(job);
    completing.ended = now_;
    completing.outcome = outcome;
    completing.next = next;
    std::vector<std::string> clean;
    for (const model::NodeGrant& grant : completing.run.allocation.nodes) {
        const auto index = node_index(grant.node);
        // Nobody answers for a node that is down and silent; what it may still run is dealt with
        // when it returns.
        const bool gone = !index || (nodes_[*index].down && !nodes_[*index].responding);
        (gone || clean_already.contains(grant.node) ? clean : completing.dirty_nodes)
            .push_back(grant.node);
        if (index && node_sides_[*index].jobs.contains(job.id)) {
            --nodes_[*index].running_jobs;
            ++nodes_[*index].completing_jobs;
        }
    }
    job.phase = std::move(completing);
    touch(job);
    set_until(job);
    planning_.preemption.run_is_over(job.id);
    if (job.het) {
        end_companions(job, outcome, cause, grace, next);
        begin_if_ready(job);
    }
    const auto dirty = std::get<model::Completing>(job.phase).dirty_nodes;
    for (const std::string& node : dirty) {
        const bool answers = nodes_[*node_index(node)].responding;
        if (answers) emit(effect::EndJob{node, job.id, job.attempt, cause, grace});
    }
    refuse_waiting_steps(job);
    for (const std::string& node : clean) {
        close_steps_on(job, node);
        release_on(job, node);
    }
    if (dirty.empty()) {
        finish(job);
    } else {
        retime(job);
    }
}

void Cluster::Impl::node_is_clean(Job& job, const std::string& node) {
    auto* completing = std::get_if<model::Completing>(&job.phase);
    if (completing == nullptr || std::erase(completing->dirty_nodes, node) == 0) return;
    touch(job);
    close_steps_on(job, node);
    release_on(job, node);
    if (completing->dirty_nodes.empty()) finish(job);
}

// Nothing of the run is left on any node. The record waits for EpilogSlurmctld, nobody else does.
void Cluster::Impl::finish(Job& job) {
    auto& completing = std::get<model::Completing>(job.phase);
    SY_ASSERT(completing.dirty_nodes.empty());
    planning_.preemption.has_left(job.id, completing.run);
    leave_reservation(job, completing.run.reservation);
    if (!settings_.run_epilog) return finish_run(job);
    completing.epilog = true;
    touch(job);
    emit(effect::RunProgram{job.id, job.attempt, true});
    retime(job);
}

void Cluster::Impl::finish_run(Job& job) {
    auto completing = std::move(std::get<model::Completing>(job.phase));
    planning_.preemption.finished(job.id);  // A restart puts all back who have not finished.
    array_run_over(job);
    using Next = model::Completing::Next;
    const bool recurs =
        completing.next == Next::End && completing.outcome.state != model::JobState::Cancelled;
    if (const auto next = recurs ? next_run(job) : std::nullopt) {
        job.phase = model::Ended{std::move(completing.run), completing.ended, completing.outcome};
        mail_end(job);
        return requeue_now(job, false, std::chrono::ceil<Seconds>(*next - now_));
    }
    if (completing.next == Next::End) {
        completing.outcome.derived_exit = worst_step_exit(job);
        job.phase = model::Ended{std::move(completing.run), completing.ended, completing.outcome};
        after_end(job);
        return;
    }
    const bool launch_failed = completing.outcome.reason == model::Reason::JobLaunchFailure;
    job.phase = model::Ended{std::move(completing.run), completing.ended, completing.outcome};
    mail(job, model::MailEvent::Requeue);
    const bool held = completing.next == Next::RequeueHold || completing.next == Next::SpecialExit;
    requeue_now(job, held, launch_failed ? kLaunchFailureRest : kRequeueRest);
    // Its deadline may have passed: then it is over.
    auto* pending = std::get_if<model::Pending>(&job.phase);
    if (pending == nullptr) return;
    pending->special_exit = completing.next == Next::SpecialExit;
    if (launch_failed && completing.next == Next::RequeueHold) {
        set_reason(job, model::Reason::JobLaunchFailure, "launch failed requeued held");
    }
}

// Nothing of the run is left: its licenses are free, and its reservation may have stood for it
// alone.
void Cluster::Impl::leave_reservation(const Job& job, const std::string& reservation) {
    release_licenses(job);
    if (reservation.empty()) return;
    runs_in_[reservation].erase(job.id);
    reservation_used(reservation);
}

// Back into the queue for another attempt. The job holds nothing and is not finished.
void Cluster::Impl::requeue_now(Job& job, bool hold, Seconds rest) {
    changes_.past_runs.push_back(job);
    release_watchers(job.id);
    job.attempt = Attempt{job.attempt.value + 1};
    job.eligible.reset();
    ++job.restarts;
    job.next_step = 0;
    model::Pending pending;
    pending.hold = hold ? model::Hold::Admin : model::Hold::None;
    pending.eligible_at = now_ + rest;
    pending.reason = model::Reason::WaitingForRequeue;
    job.phase = std::move(pending);
    if (job.array) arrays_[job.array->array_id].pending.insert(job.id);
    if (hold) {
        job.priority = 0;
    } else if (job.priority == 0) {
        // It was held when it last waited; that is over.
        job.priority = base_priority(job.array ? job.array->array_id : job.id, *job.spec, false);
    }
    if (JobSide* own = find_side(job.id)) {
        own->active_steps.clear();
        own->launched_here.clear();
        own->seen.clear();
        own->doubted.clear();
        own->mailed = 0;
        own->prolog_ended = false;
    }
    touch(job);
    review(job);
    review_throttled(job);
}

void Cluster::Impl::end_pending(Job& job, model::Outcome outcome) {
    SY_ASSERT(std::holds_alternative<model::Pending>(job.phase));
    // One that only its partition kept out of the queue could have run, as far as it was concerned.
    const auto& pending = std::get<model::Pending>(job.phase);
    const bool ready =
        planning_.queue.contains(job.id) || pending.reason == model::Reason::PartitionDown;
    unqueue(job.id);
    planning_.backfill.drop(job.id);
    unindex_dependency(job);
    if (ready && pending.eligible_at <= now_) {
        job.eligible = std::max(pending.eligible_at, job.submitted);
    }
    job.phase = model::Ended{std::nullopt, now_, outcome};
    if (job.het) end_pending_companions(job, outcome);
    after_end(job);
}

// One that is on its way back into the queue shall not come back.
void Cluster::Impl::stop_return(Job& job, const model::Outcome& outcome) {
    auto* completing = std::get_if<model::Completing>(&job.phase);
    if (completing == nullptr || completing->next == model::Completing::Next::End) return;
    completing->next = model::Completing::Next::End;
    completing->outcome.state = outcome.state;
    completing->outcome.reason = outcome.reason;
    completing->outcome.cancelled_by = outcome.cancelled_by;
    touch(job);
}

// The job is over for good: tell everybody who asked.
void Cluster::Impl::after_end(Job& job) {
    touch(job);
    const model::Outcome outcome = *model::outcome_of(job);
    if (job.array) arrays_[job.array->array_id].pending.erase(job.id);
    SY_ASSERT(unfinished_ > 0);
    --unfinished_;
    unfinished_names_.remove(job.spec->uid, job.spec->name, job.id);
    if (job.array) {
        ArraySide& array = arrays_[job.array->array_id];
        const int wait = outcome.exit.to_wait();
        array.worst_wait = std::max(array.worst_wait, wait);
        array.least_wait = array.any_ended ? std::min(array.least_wait, wait) : wait;
        array.any_ended = true;
        array.any_failed |= outcome.state != model::JobState::Completed;
    }
    switch (outcome.state) {
        case model::JobState::Completed:
            ++figures_.jobs_completed;
            break;
        case model::JobState::Cancelled:
            ++figures_.jobs_cancelled;
            break;
        default:
            ++figures_.jobs_failed;
            break;
    }
    mail_end(job);
    answer_waiters(job);
    timers_.set({TimerKey::Kind::Owner, job.id.value}, std::nullopt);
    trigger_job_end(job.id);
    release_watchers(job.id);
    sides_.erase(job.id);
    retime(job);
    wake_dependents(job);
    review_throttled(job);
    // The others need not wait for this one.
    if (Job* leader = is_follower(job) ? find_job(job.het->leader) : nullptr) review(*leader);
}

// Out of memory; its record stays in the store as history.
void Cluster::Impl::forget(JobId id) {
    const Job& job = jobs_.at(id);
    if (job.nonce != 0) nonces_.erase({job.nonce, job.spec->uid, id});
    if (!job.array) {
        changes_.unneeded_payloads.insert(id);
    } else {
        ArraySide& array = arrays_[job.array->array_id];
        array.records.erase(id);
        if (array.records.empty()) {
            arrays_.erase(job.array->array_id);
            changes_.unneeded_payloads.insert(job.array->array_id);
        }
    }
    if (job.het) {
        const auto het = hets_.find(job.het->leader);
        het->second.erase(id);
        if (het->second.empty()) hets_.erase(het);
    }
    const auto first = steps_.lower_bound(StepKey{id, Attempt{0}, StepId{0}});
    auto last = first;
    while (last != steps_.end() && last->first.job == id) ++last;
    steps_.erase(first, last);
    sides_.erase(id);
    naming_.erase(id);
    jobs_.erase(id);
    changes_.forgotten_jobs.insert(id);
}

}  // namespace switchyard::core
