// lifecycle.cpp: the way of one run of a job: start, end, clean-up, and back into the queue where
// that is due.

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {

void Cluster::Impl::start(Job& job, PartitionIndex partition, model::Allocation allocation,
                          bool backfilled, const Terms& terms) {
    const Change change(*this);
    SY_ASSERT(std::holds_alternative<model::Pending>(job.phase));
    SY_ASSERT(!allocation.nodes.empty());
    unqueue(job.id);
    planning_.backfill.drop(job.id);
    planning_.preemption.drop_hold(job.id);
    dependencies_.forget_terms(job);
    job.eligible = std::max(std::get<model::Pending>(job.phase).eligible_at, job.submitted);
    model::Running run;
    run.allocation = std::move(allocation);
    run.started = now_;
    if (const model::Reservation* reservation = calendar_.find(terms.owner))
        run.reservation = reservation->name;
    run.licenses = model::format_licenses(terms.licenses);
    run.ends_by = calendar_.end_of_run(*job.spec, run);
    run.configuring = settings_.run_prolog;
    job.partition = partitions_[partition].name;
    run.preemptable_at = planning_.preemption.preemptable_from(job, now_);
    job.last_evaluated = now_;
    job.scheduler = backfilled ? "Backfill" : "Main";
    job.phase = std::move(run);
    touch(job);
    claim(job);
    calendar_.nodes_changed();
    if (terms.owner != sched::kNobody)
        calendar_.used(std::get<model::Running>(job.phase).reservation);
    arrays_.run_began(job);
    ++figures_.jobs_started;
    if (backfilled) ++figures_.jobs_backfilled;
    if (settings_.run_prolog) {
        emit(effect::RunProgram{job.id, job.attempt});
        // It is told again when the nodes are ready.
        waiters_.tell_owner(job.id, reply::Granted{job.id});
    } else {
        begin(job);
    }
    mail_.send(job, model::MailEvent::Begin);
    job_timers_.retime(job);
    dependencies_.wake(job);
}

Cluster::Impl::Change::Change(Impl& cluster) : cluster_(cluster) {
    cluster_.world_.agenda.begin_change();
}

Cluster::Impl::Change::~Change() {
    if (cluster_.world_.agenda.end_change()) cluster_.settle();
}

// Looks at those whose state depends on what has changed, and at those who depend on them.
void Cluster::Impl::settle() {
    Agenda& agenda = world_.agenda;
    agenda.begin_change();
    do {
        tell_planning(agenda.take_nodes());
        if (agenda.take_windows_changed()) {
            planning_.windows_changed();
            planning_.reasons.look_at_foremost();
        }
        while (const auto id = agenda.take()) {
            if (Job* job = find_job(*id)) review(*job);
            if (agenda.take_windows_changed()) {
                planning_.windows_changed();
                planning_.reasons.look_at_foremost();
            }
        }
        for (const JobId id : agenda.take_ends()) {
            if (Job* job = find_job(id)) reset_end(*job);
        }
    } while (!agenda.empty());
    agenda.end_change();
}

// Nodes are open, or described, or usable, as they were not.
void Cluster::Impl::tell_planning(const Agenda::NodeNews& news) {
    for (const NodeIndex node : news.opened) planning_.capacity_freed(node);
    for (const NodeIndex node : news.described) planning_.node_described(node);
    if (news.came_or_went) calendar_.nodes_changed();
    if (news.came_or_went || news.redescribed) planning_.feasibility.usable_nodes_changed();
}

// Its nodes are ready for it.
void Cluster::Impl::begin(Job& job) {
    prepare_nodes(job);
    if (job.spec->kind == model::JobKind::Batch) {
        launch_batch(job);
    } else {
        waiters_.tell_owner(job.id, reply::Granted{job.id}, job.spec->detached);
    }
}

// PrologFlags=Alloc: all nodes of the job hear of it, not only those that get a step.
void Cluster::Impl::prepare_nodes(const Job& job) {
    if (!settings_.prepare_nodes) return;
    for (const model::NodeGrant& grant : model::allocation_of(job)->nodes)
        emit(effect::PrepareJob{grant.node, job.id, job.attempt});
}

// Where the records are a backup, its nodes say first what they began since.
void Cluster::Impl::launch_batch(Job& job) {
    job_steps_.begin_batch(job);
    const bool waits =
        restore_.is_of_backup(job) && (restore_.is_under_way() || restore_.waits_for_nodes(job));
    if (waits) return;
    const std::string& first = model::allocation_of(job)->nodes.front().node;
    emit(effect::LaunchBatch{first, job.id, job.attempt});
}

void Cluster::Impl::end_run(Job& job, model::Outcome outcome, EndCause cause, Seconds grace,
                            model::Completing::Next next,
                            const std::set<std::string>& clean_already) {
    const Change change(*this);
    model::Completing completing;
    if (auto* running = std::get_if<model::Running>(&job.phase)) {
        completing.run = std::move(*running);
    } else {
        auto& suspended = std::get<model::Suspended>(job.phase);
        completing.run = std::move(suspended.run);
        completing.run.suspended_for += std::chrono::duration_cast<Seconds>(now_ - suspended.since);
    }
    stop_prolog(job, completing.run);
    outcome.derived_exit = job_steps_.worst_exit(job);
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
        if (index && machines_.side(*index).jobs.contains(job.id)) {
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
    job_steps_.refuse_waiting(job);
    for (const std::string& node : clean) {
        job_steps_.close_on(job, node);
        release_on(job, node);
    }
    if (dirty.empty()) {
        finish(job);
    } else {
        job_timers_.retime(job);
    }
}

void Cluster::Impl::node_is_clean(Job& job, const std::string& node) {
    const Change change(*this);
    auto* completing = std::get_if<model::Completing>(&job.phase);
    if (completing == nullptr || std::erase(completing->dirty_nodes, node) == 0) return;
    touch(job);
    job_steps_.close_on(job, node);
    release_on(job, node);
    if (completing->dirty_nodes.empty()) finish(job);
}

// Nothing of the run is left on any node. The record waits for EpilogSlurmctld, nobody else does.
void Cluster::Impl::finish(Job& job) {
    auto& completing = std::get<model::Completing>(job.phase);
    SY_ASSERT(completing.dirty_nodes.empty());
    planning_.preemption.has_left(job.id, completing.run);
    // Its licenses are free, and its reservation may have stood for it alone.
    licenses_.release(job.id);
    calendar_.left(job.id, completing.run.reservation);
    if (!settings_.run_epilog) return finish_run(job);
    completing.epilog = true;
    touch(job);
    emit(effect::RunProgram{job.id, job.attempt, true});
    job_timers_.retime(job);
}

void Cluster::Impl::finish_run(Job& job) {
    const Change change(*this);
    auto completing = std::move(std::get<model::Completing>(job.phase));
    planning_.preemption.finished(job.id);  // A restart puts all back who have not finished.
    arrays_.run_over(job);
    using Next = model::Completing::Next;
    const bool recurs =
        completing.next == Next::End && completing.outcome.state != model::JobState::Cancelled;
    if (const auto next = recurs ? next_run(job) : std::nullopt) {
        job.phase = model::Ended{std::move(completing.run), completing.ended, completing.outcome};
        mail_.send_end(job);
        return requeue_now(job, false, std::chrono::ceil<Seconds>(*next - now_));
    }
    if (completing.next == Next::End) {
        completing.outcome.derived_exit = job_steps_.worst_exit(job);
        job.phase = model::Ended{std::move(completing.run), completing.ended, completing.outcome};
        after_end(job);
        return;
    }
    const bool launch_failed = completing.outcome.reason == model::Reason::JobLaunchFailure;
    job.phase = model::Ended{std::move(completing.run), completing.ended, completing.outcome};
    mail_.send(job, model::MailEvent::Requeue);
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

// Back into the queue for another attempt. The job holds nothing and is not finished.
void Cluster::Impl::requeue_now(Job& job, bool hold, Seconds rest) {
    const Change change(*this);
    changes_.past_runs.push_back(job);
    waiters_.release_watchers(job.id);
    job.attempt = Attempt{job.attempt.value + 1};
    job.eligible.reset();
    ++job.restarts;
    job.next_step = 0;
    model::Pending pending;
    pending.hold = hold ? model::Hold::Admin : model::Hold::None;
    pending.eligible_at = now_ + rest;
    pending.reason = model::Reason::WaitingForRequeue;
    job.phase = std::move(pending);
    arrays_.waits_again(job);
    if (hold) {
        job.priority = 0;
    } else if (job.priority == 0) {
        // It was held when it last waited; that is over.
        job.priority = base_priority(job.array ? job.array->array_id : job.id, *job.spec, false);
    }
    job_steps_.run_is_over(job.id);
    prologs_ended_.erase(job.id);
    job_timers_.forget_marks(job.id);
    touch(job);
    review(job);
    arrays_.review_throttled(job);
}

void Cluster::Impl::end_pending(Job& job, model::Outcome outcome) {
    const Change change(*this);
    SY_ASSERT(std::holds_alternative<model::Pending>(job.phase));
    // One that only its partition kept out of the queue could have run, as far as it was concerned.
    const auto& pending = std::get<model::Pending>(job.phase);
    const bool ready =
        planning_.queue.contains(job.id) || pending.reason == model::Reason::PartitionDown;
    unqueue(job.id);
    planning_.backfill.drop(job.id);
    dependencies_.forget_terms(job);
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
    SY_ASSERT(unfinished_ > 0);
    --unfinished_;
    dependencies_.ended(job);
    arrays_.ended(job);
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
    mail_.send_end(job);
    waiters_.ended(job);
    triggers_.job_ended(job.id);
    waiters_.release_watchers(job.id);
    job_steps_.ended(job.id);
    prologs_ended_.erase(job.id);
    launch_failures_.erase(job.id);
    idle_gpus_.ended(job.id);
    job_timers_.forget_marks(job.id);
    job_timers_.retime(job);
    dependencies_.wake(job);
    arrays_.review_throttled(job);
    // The others need not wait for this one.
    if (is_follower(job)) world_.agenda.review(job.het->leader);
}

// Out of memory; its record stays in the store as history.
void Cluster::Impl::forget(JobId id) {
    const Job& job = jobs_.at(id);
    nonces_.forget(job);
    if (!job.array) {
        changes_.unneeded_payloads.insert(id);
    } else {
        const JobId array = job.array->array_id;
        if (arrays_.forget(job)) changes_.unneeded_payloads.insert(array);
    }
    hets_.forget(job);
    job_steps_.forget(id);
    calendar_.forget(id);
    world_.keep_last(job);
    jobs_.erase(id);
    changes_.forgotten_jobs.insert(id);
}

}  // namespace switchyard::core
