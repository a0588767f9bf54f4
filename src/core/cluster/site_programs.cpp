// site_programs.cpp: PrologSlurmctld runs on the controller's host when a job has got its nodes and
// before anything of it is launched; EpilogSlurmctld when nothing of it is left on them.
//
// That one is owed is part of the record (Running::configuring, Completing::epilog). A controller
// that was killed meanwhile has it run again from the beginning: whether it had ended is not known,
// and nothing of the job was launched before it had. Components of a heterogeneous job begin when
// the programs of all have ended.

#include <utility>

#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {

void Cluster::Impl::on(const event::ProgramEnded& event) {
    Job* job = find_job(event.job);
    if (job == nullptr || job->attempt != event.attempt) return;
    if (event.epilog) {
        auto* completing = std::get_if<model::Completing>(&job->phase);
        if (completing == nullptr || !completing->epilog) return;
        completing->epilog = false;
        return finish_run(*job);
    }
    if (std::holds_alternative<model::Completing>(job->phase) || !is_configuring(*job)) return;
    if (event.failed) return prolog_failed(*job);
    prologs_ended_.insert(job->id);
    begin_if_ready(*job);
}

// A script goes back into the queue, since other nodes may serve it better; what cannot be run
// again is cancelled.
void Cluster::Impl::prolog_failed(Job& job) {
    using Next = model::Completing::Next;
    const JobSpec& deciding = *hets_.leader_of(job).spec;
    const bool again = deciding.kind == model::JobKind::Batch &&
                       deciding.requeue.value_or(settings_.requeue_by_default);
    model::Outcome outcome;
    outcome.reason = model::Reason::JobLaunchFailure;
    job.system_comment = "PrologSlurmctld failed";
    if (again) {
        outcome.state = model::JobState::Requeued;
        return end_run(job, outcome, EndCause::Requeued, settings_.kill_wait, Next::Requeue);
    }
    outcome.state = model::JobState::Cancelled;
    const Job& leader = hets_.leader_of(job);
    waiters_.tell_owner(leader.id, reply::OwnerNotice{leader.id,
                                                      reply::OwnerNotice::Kind::Message,
                                                      {},
                                                      "PrologSlurmctld failed, job killed"});
    waiters_.notify_owner(leader, reply::OwnerNotice::Kind::Cancelled);
    end_run(jobs_.at(leader.id), outcome, EndCause::Cancelled, settings_.kill_wait, Next::End);
}

// All that run of the job's components, once none of them has anything to wait for.
void Cluster::Impl::begin_if_ready(const Job& any) {
    std::vector<JobId> waiting;
    for (const JobId id : hets_.components_of(any)) {
        const Job& job = jobs_.at(id);
        if (std::holds_alternative<model::Completing>(job.phase) || !is_configuring(job)) continue;
        const bool frozen = std::holds_alternative<model::Suspended>(job.phase);
        if (!prologs_ended_.contains(id) || frozen) return;
        waiting.push_back(id);
    }
    for (const JobId id : waiting) {
        Job& job = jobs_.at(id);
        std::get<model::Running>(job.phase).configuring = false;
        touch(job);
        begin(job);
        job_timers_.retime(job);
    }
    for (const JobId id : waiting) job_steps_.retry_waiting(id);
}

// The run is over before it was launched.
void Cluster::Impl::stop_prolog(const Job& job, model::Running& run) {
    if (!std::exchange(run.configuring, false)) return;
    emit(effect::StopProgram{job.id, job.attempt});
}

// What a controller before this one owed.
void Cluster::Impl::resume_program(const Job& job) {
    const auto* completing = std::get_if<model::Completing>(&job.phase);
    if (completing != nullptr && completing->epilog) {
        emit(effect::RunProgram{job.id, job.attempt, true});
    } else if (completing == nullptr && !model::is_finished(job) && is_configuring(job)) {
        emit(effect::RunProgram{job.id, job.attempt});
    }
}

}  // namespace switchyard::core
