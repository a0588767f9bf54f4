// cron.cpp: jobs that come again. A line of a user's crontab is one job: when a run of it is over,
// it waits for its next time under the same number. A cancelled one does not come again.

#include "model/cron.hpp"
#include "core/cluster/check_texts.hpp"
#include "core/cluster/check_values.hpp"
#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {

// The jobs of the crontab that was: those that wait go, those that run do not come again.
void Cluster::Impl::retire_crontab(std::uint32_t uid) {
    for (const JobId id : jobs_.of_user(uid)) {
        Job& job = jobs_.at(id);
        if (job.spec->cron.empty() || model::is_finished(job)) continue;
        if (std::holds_alternative<model::Pending>(job.phase)) {
            end_pending(job,
                        outcome_without_exit(model::JobState::Cancelled, model::Reason::None, uid));
            continue;
        }
        JobSpec spec = *job.spec;
        spec.cron.clear();
        world_.replace_spec(job, spec);
    }
}

void Cluster::Impl::on(const event::Crontab& event) {
    std::vector<JobSpec> specs = event.jobs;
    for (std::size_t i = 0; i < specs.size(); ++i) {
        JobSpec& spec = specs[i];
        spec.uid = event.caller.uid;
        spec.gid = event.caller.gid;
        std::vector<std::string> notes;
        tidy(spec, rights_of(event.caller).may_raise_priority());
        Status status = check_texts(spec);
        if (status) status = check_values(spec);
        if (status) status = complete_spec(spec, notes);
        if (status) limit_memory(spec);
        if (status) status = validate(spec, event.caller, notes);
        const auto cron = model::parse_cron(spec.cron);
        const auto first = cron ? model::next_after(*cron, now_) : std::nullopt;
        if (status && (!first || spec.array || spec.kind != model::JobKind::Batch))
            status = fail(Errc::InvalidArgument);
        if (status) {
            spec.begin = first;
            continue;
        }
        // Which one it was is told by the last note: its place in the list.
        notes.push_back(std::to_string(i));
        return reply(event.token, reply::Failed{status.error(), std::move(notes)});
    }
    retire_crontab(event.caller.uid);
    reply::CrontabSet answer;
    event::Submit submit;
    submit.caller = event.caller;
    for (JobSpec& spec : specs) {
        Job& job = accept(std::move(spec), submit, std::nullopt);
        answer.jobs.push_back(job.id);
        review(job);
    }
    reply(event.token, std::move(answer));
}

}  // namespace switchyard::core
