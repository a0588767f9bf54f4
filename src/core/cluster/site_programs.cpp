// site_programs.cpp: PrologSlurmctld runs on the controller's host when a job has got its nodes and
// before anything of it is launched; EpilogSlurmctld when nothing of it is left on them
// (launcher.hpp).

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
    launcher_.prolog_ended(job->id);
    launcher_.begin_if_ready(*job);
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

}  // namespace switchyard::core
