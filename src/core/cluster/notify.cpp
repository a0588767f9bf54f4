// notify.cpp: `scontrol notify`: a message goes to whoever sees the output of a job.

#include "core/cluster/check_texts.hpp"
#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {

void Cluster::Impl::on(const event::Notify& event) {
    if (const Status fine = check_comment(event.text, "message"); !fine)
        return reply(event.token, reply::Failed{fine.error(), {}});
    const Job* job = find_job(event.job);
    if (job == nullptr) return refuse(event.token, Errc::InvalidJobId);
    if (!rights_of(event.caller).may_change_job(job->spec->uid))
        return refuse(event.token, Errc::AccessDenied);
    if (std::holds_alternative<model::Pending>(job->phase))
        return refuse(event.token, Errc::JobPending);
    const bool runs = std::holds_alternative<model::Running>(job->phase) ||
                      std::holds_alternative<model::Suspended>(job->phase);
    if (!runs) return refuse(event.token, Errc::JobFinished);
    if (job->spec->kind == model::JobKind::Batch) {
        emit(effect::NotifyBatch{model::allocation_of(*job)->nodes.front().node, job->id,
                                 job->attempt, event.text});
    } else if (waiters_.owner_of(job->id)) {
        waiters_.tell_owner(
            job->id,
            reply::OwnerNotice{job->id, reply::OwnerNotice::Kind::Message, {}, event.text});
    } else {
        return refuse(event.token, Errc::JobNotRunning);
    }
    reply(event.token, reply::Done{{}, 1, {model::display_id(*job)}});
}

}  // namespace switchyard::core
