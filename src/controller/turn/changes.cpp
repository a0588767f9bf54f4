// changes.cpp: the records that a batch writes, as they are when it is sealed.
#include "controller/turn/controller.hpp"
#include "model/hostlist.hpp"

namespace switchyard::controller {
namespace {

constexpr Seconds kPurgePeriod{3600};

}  // namespace

void Controller::add_changes(const core::Changes& changes, store::Batch& batch) {
    batch.add(changes, rows_);
    for (const auto& [id, job] : changes.jobs) {
        if (!job) continue;
        if (log_.shows(os::Log::Level::Verbose)) {
            log_.verbose("JobId={} {}", model::display_id(*job),
                         model::long_name(model::state_of(*job)));
        }
        log_job(*job);
    }
    for (const auto& [key, step] : changes.steps) {
        if (step) {
            log_.about(os::Log::Topic::Steps, "StepId={} {}", model::to_string(key),
                       model::long_name(model::state_of(*step)));
        }
        if (step && !step->end) continue;
        if (step_launches_.erase(key) > 0 && step && step->spec.detached)
            batch.drop_step_launch(key);
        orphans_.erase(key);
    }
}

const core::Changes& Controller::hold_changes() {
    held_changes_.follow_with(cluster_->take_changes());
    return held_changes_;
}

const core::Changes& Controller::seal_changes(Sealed& sealed) {
    hold_changes();
    sealed.changes.push_back(std::exchange(held_changes_, {}));
    add_changes(sealed.changes.back(), sealed.batch);
    return sealed.changes.back();
}

// For those who want to see every job, or every decision of the scheduler.
void Controller::log_job(const model::Job& job) {
    if (log_.shows(os::Log::Topic::TraceJobs)) {
        log_.about(os::Log::Topic::TraceJobs, "JobId={} {} {}", model::display_id(job),
                   model::long_name(model::state_of(job)),
                   model::reason_text(model::reason_of(job)));
    }
    const auto* run = std::get_if<model::Running>(&job.phase);
    if (run == nullptr || run->started != now_ || !log_.shows(os::Log::Topic::Scheduler)) return;
    std::vector<std::string> nodes;
    std::uint32_t cpus = 0;
    for (const model::NodeGrant& grant : run->allocation.nodes) {
        nodes.push_back(grant.node);
        cpus += grant.cpus;
    }
    log_.about(os::Log::Topic::Scheduler, "{}: Allocate JobId={} NodeList={} #CPUs={} Partition={}",
               job.scheduler, model::display_id(job), model::compress_hostlist(nodes), cpus,
               job.partition);
}

// Their records stay as history; the script and the environment are of no more use, unless the
// site keeps them (AccountingStoreFlags).
void Controller::drop_payloads(const core::Changes& changes, store::Batch& batch) {
    for (const JobId payload : changes.unneeded_payloads) {
        payloads_.forget(payload);
        if (config_.keep_scripts || config_.keep_environments) {
            batch.kept_payloads.push_back({.job = payload,
                                           .script = config_.keep_scripts,
                                           .environment = config_.keep_environments});
        } else {
            batch.drop_payload(payload);
        }
    }
}

// PurgeJobAfter, PurgeStepAfter: now and every hour; without a pause while there is more to forget.
void Controller::purge() {
    const auto before = [&](const std::optional<Seconds>& age) -> std::optional<std::int64_t> {
        if (!age) return std::nullopt;
        return unix_seconds(now() - *age);
    };
    purge_ = store::Purge{.jobs_before = before(config_.purge_jobs_after),
                          .steps_before = before(config_.purge_steps_after)};
    if (!purge_->jobs_before && !purge_->steps_before) purge_.reset();
    purge_timer_ = loop_.after(kPurgePeriod, [this] { purge(); });
    if (!purge_) return;
    dirty_ = true;
    request_seal();
}

}  // namespace switchyard::controller
