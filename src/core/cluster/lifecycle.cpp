// lifecycle.cpp: the way of one run of a job: start, end, clean-up, and back into the queue where
// that is due.

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "core/cluster/cluster_impl.hpp"
#include "model/cron.hpp"

namespace switchyard::core {
namespace {

// Of a crontab; none: the job does not come again.
std::optional<Instant> next_run(const Job& job, Instant now) {
    if (job.spec->cron.empty()) return std::nullopt;
    const auto cron = model::parse_cron(job.spec->cron);
    return cron ? model::next_after(*cron, now) : std::nullopt;
}

}  // namespace

void Cluster::Impl::start(Job& job, PartitionIndex partition, model::Allocation allocation,
                          bool backfilled, const Terms& terms) {
    const Operation operation(*this);
    SY_ASSERT(std::holds_alternative<model::Pending>(job.phase));
    SY_ASSERT(!allocation.nodes.empty());
    unqueue(job.id);
    planning_.backfill.drop(job.id);
    planning_.preemption.drop_hold(job.id);
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
    change(job, std::move(run), Cause::Started);
}

void Cluster::Impl::end_run(Job& job, model::Outcome outcome, EndCause cause, Seconds grace,
                            model::Completing::Next next,
                            const std::set<std::string>& clean_already) {
    const Operation operation(*this);
    model::Completing completing;
    if (auto* running = std::get_if<model::Running>(&job.phase)) {
        completing.run = std::move(*running);
    } else {
        auto& suspended = std::get<model::Suspended>(job.phase);
        completing.run = std::move(suspended.run);
        completing.run.suspended_for += std::chrono::duration_cast<Seconds>(now_ - suspended.since);
    }
    launcher_.stop_prolog(job, completing.run);
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
    change(job, std::move(completing), Cause::RunOver);
    if (job.het) {
        end_companions(job, outcome, cause, grace, next);
        launcher_.begin_if_ready(job);
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
    const Operation operation(*this);
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
    tell({job, Phase::Completing, Phase::Completing, Cause::Left});
    if (!settings_.run_epilog) return finish_run(job);
    completing.epilog = true;
    touch(job);
    emit(effect::RunProgram{job.id, job.attempt, true});
    job_timers_.retime(job);
}

void Cluster::Impl::finish_run(Job& job) {
    const Operation operation(*this);
    auto completing = std::move(std::get<model::Completing>(job.phase));
    const auto over = [&] {
        return model::Ended{std::move(completing.run), completing.ended, completing.outcome};
    };
    using Next = model::Completing::Next;
    const bool recurs =
        completing.next == Next::End && completing.outcome.state != model::JobState::Cancelled;
    if (const auto next = recurs ? next_run(job, now_) : std::nullopt) {
        change(job, over(), Cause::Recurs);
        return requeue_now(job, Cause::Requeued, false, std::chrono::ceil<Seconds>(*next - now_));
    }
    if (completing.next == Next::End) {
        completing.outcome.derived_exit = job_steps_.worst_exit(job);
        return change(job, over(), Cause::Ended);
    }
    const bool launch_failed = completing.outcome.reason == model::Reason::JobLaunchFailure;
    change(job, over(), Cause::Returns);
    const bool held = completing.next == Next::RequeueHold || completing.next == Next::SpecialExit;
    requeue_now(job, Cause::Requeued, held, launch_failed ? kLaunchFailureRest : kRequeueRest);
    // Its deadline may have passed: then it is over.
    auto* pending = std::get_if<model::Pending>(&job.phase);
    if (pending == nullptr) return;
    pending->special_exit = completing.next == Next::SpecialExit;
    if (launch_failed && completing.next == Next::RequeueHold) {
        set_reason(job, model::Reason::JobLaunchFailure, "launch failed requeued held");
    }
}

// Back into the queue for another attempt. The job holds nothing and is not finished.
void Cluster::Impl::requeue_now(Job& job, Cause cause, bool hold, Seconds rest) {
    const Operation operation(*this);
    changes_.past_runs.push_back(job);
    job.attempt = Attempt{job.attempt.value + 1};
    job.eligible.reset();
    ++job.restarts;
    job.next_step = 0;
    model::Pending pending;
    pending.hold = hold ? model::Hold::Admin : model::Hold::None;
    pending.eligible_at = now_ + rest;
    pending.reason = model::Reason::WaitingForRequeue;
    if (hold) {
        job.priority = 0;
    } else if (job.priority == 0) {
        // It was held when it last waited; that is over.
        job.priority = base_priority(job.array ? job.array->array_id : job.id, *job.spec, false);
    }
    change(job, std::move(pending), cause);
    review(job);
}

void Cluster::Impl::end_pending(Job& job, model::Outcome outcome) {
    const Operation operation(*this);
    SY_ASSERT(std::holds_alternative<model::Pending>(job.phase));
    // One that only its partition kept out of the queue could have run, as far as it was concerned.
    const auto& pending = std::get<model::Pending>(job.phase);
    const bool ready =
        planning_.queue.contains(job.id) || pending.reason == model::Reason::PartitionDown;
    unqueue(job.id);
    planning_.backfill.drop(job.id);
    if (ready && pending.eligible_at <= now_) {
        job.eligible = std::max(pending.eligible_at, job.submitted);
    }
    const Transition over = enter(job, model::Ended{std::nullopt, now_, outcome}, Cause::Ended);
    if (job.het) end_pending_companions(job, outcome);
    tell(over);
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

// Out of memory; its record stays in the store as history.
void Cluster::Impl::forget(JobId id) {
    Job& job = jobs_.at(id);
    if (!job.array) changes_.unneeded_payloads.insert(id);
    tell({job, Phase::Ended, Phase::None, Cause::Forgotten});
    world_.keep_last(job);
    jobs_.erase(id);
    changes_.forgotten_jobs.insert(id);
}

// Its limit or its reservation has changed: nodes and scheduler hear of the new end.
void Cluster::Impl::reset_end(Job& job) {
    auto* run = std::get_if<model::Running>(&job.phase);
    if (run == nullptr) return;
    run->ends_by = calendar_.end_of_run(*job.spec, *run);
    touch(job);
    for (const model::NodeGrant& grant : run->allocation.nodes)
        emit(effect::SetDeadline{grant.node, job.id, job.attempt, world_.deadline_of(job)});
    set_until(job);
    job_timers_.retime(job);
    planning_.backfill.capacity_changed();
}

}  // namespace switchyard::core
