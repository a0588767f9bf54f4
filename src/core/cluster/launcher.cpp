// launcher.cpp: see launcher.hpp.

#include "core/cluster/launcher.hpp"

#include <string>
#include <utility>
#include <vector>

#include "core/cluster/job_facts.hpp"

namespace switchyard::core {

void Launcher::load(const Job& job) {
    const auto* completing = std::get_if<model::Completing>(&job.phase);
    if (completing != nullptr && completing->epilog) {
        world_.emit(effect::RunProgram{job.id, job.attempt, true});
    } else if (completing == nullptr && !model::is_finished(job) && is_configuring(job)) {
        world_.emit(effect::RunProgram{job.id, job.attempt});
    }
}

void Launcher::observe(const Transition& transition) {
    const Job& job = transition.job;
    switch (transition.cause) {
        case Cause::Started:
            if (!is_configuring(job)) return begin(job);
            world_.emit(effect::RunProgram{job.id, job.attempt});
            // It is told again when the nodes are ready.
            return waiters_.tell_owner(job.id, reply::Granted{job.id});
        case Cause::Ended:
            failures_.erase(job.id);
            [[fallthrough]];
        case Cause::Requeued:
        case Cause::Reopened:
            prologs_ended_.erase(job.id);
            return;
        default:
            return;
    }
}

// Its nodes are ready for it.
void Launcher::begin(const Job& job) {
    prepare_nodes(job);
    if (job.spec->kind == model::JobKind::Batch) {
        launch_batch(job);
    } else {
        waiters_.tell_owner(job.id, reply::Granted{job.id}, job.spec->detached);
    }
}

// PrologFlags=Alloc: all nodes of the job hear of it, not only those that get a step.
void Launcher::prepare_nodes(const Job& job) {
    if (!world_.settings.prepare_nodes) return;
    for (const model::NodeGrant& grant : model::allocation_of(job)->nodes)
        world_.emit(effect::PrepareJob{grant.node, job.id, job.attempt});
}

// Where the records are a backup, its nodes say first what they began since.
void Launcher::launch_batch(const Job& job) {
    steps_.begin_batch(job);
    const bool waits =
        restore_.is_of_backup(job) && (restore_.is_under_way() || restore_.waits_for_nodes(job));
    if (waits) return;
    const std::string& first = model::allocation_of(job)->nodes.front().node;
    world_.emit(effect::LaunchBatch{first, job.id, job.attempt});
}

void Launcher::begin_if_ready(const Job& any) {
    std::vector<JobId> waiting;
    for (const JobId id : hets_.components_of(any)) {
        const Job& job = world_.jobs.at(id);
        if (std::holds_alternative<model::Completing>(job.phase) || !is_configuring(job)) continue;
        const bool frozen = std::holds_alternative<model::Suspended>(job.phase);
        if (!prologs_ended_.contains(id) || frozen) return;
        waiting.push_back(id);
    }
    for (const JobId id : waiting) {
        Job& job = world_.jobs.at(id);
        std::get<model::Running>(job.phase).configuring = false;
        world_.touch(job);
        begin(job);
        timers_.retime(job);
    }
    for (const JobId id : waiting) steps_.retry_waiting(id);
}

void Launcher::stop_prolog(const Job& job, model::Running& run) {
    if (!std::exchange(run.configuring, false)) return;
    world_.emit(effect::StopProgram{job.id, job.attempt});
}

}  // namespace switchyard::core
