// changes.cpp: the records that a batch writes, as they are when it is sealed.
#include <algorithm>

#include "controller/turn/controller.hpp"
#include "model/hostlist.hpp"

namespace switchyard::controller {
namespace {

constexpr Seconds kPurgePeriod{3600};

}  // namespace

void Controller::add_changes(const core::Changes& changes, store::Batch& batch) {
    batch.jobs.reserve(batch.jobs.size() + changes.jobs.size());
    for (const JobId id : changes.jobs) {
        const auto it = cluster_->jobs().glance(id);
        if (it == cluster_->jobs().end()) continue;
        batch.jobs.push_back(rows_.to_row(it->second));
        if (log_.shows(Log::Level::Verbose)) {
            log_.verbose("JobId={} {}", model::display_id(it->second), batch.jobs.back().state);
        }
        log_job(it->second);
    }
    for (const model::Job& run : changes.past_runs) batch.past_runs.push_back(rows_.to_row(run));
    for (const StepKey& key : changes.steps) {
        const auto it = cluster_->steps().find(key);
        if (it != cluster_->steps().end()) {
            batch.steps.push_back(store::to_row(it->second));
            log_.about(Log::Topic::Steps, "StepId={} {}", model::to_string(key),
                       batch.steps.back().state);
        }
        if (it == cluster_->steps().end() || it->second.end) {
            if (step_launches_.erase(key) > 0 && it != cluster_->steps().end() &&
                it->second.spec.detached) {
                batch.deleted_step_launches.push_back(key);
            }
            orphans_.erase(key);
        }
    }
    for (const std::string& name : changes.nodes) {
        if (const model::Node* node = cluster_->find_node(name)) {
            batch.nodes.push_back(store::to_row(*node));
        } else {
            batch.deleted_nodes.push_back(name);
        }
    }
    if (!changes.partitions.empty()) {
        const std::vector<std::string> deleted = cluster_->deleted_partitions();
        for (const std::string& name : changes.partitions) {
            const auto& all = cluster_->partitions();
            const auto it = std::ranges::find(all, name, &model::Partition::name);
            if (it != all.end()) {
                batch.partitions.push_back(store::to_row(*it));
            } else if (std::ranges::find(deleted, name) != deleted.end()) {
                batch.deleted_partitions.push_back(name);
            } else {
                batch.reset_partitions.push_back(name);
            }
        }
    }
    for (const std::uint32_t id : changes.triggers) {
        const auto it = cluster_->triggers().find(id);
        if (it != cluster_->triggers().end()) {
            batch.triggers.push_back(store::to_row(it->second));
        } else {
            batch.deleted_triggers.push_back(id);
        }
    }
    for (const std::string& name : changes.reservations) {
        const auto it = cluster_->reservations().find(name);
        if (it != cluster_->reservations().end()) {
            batch.reservations.push_back(store::to_row(it->second));
        } else {
            batch.deleted_reservations.push_back(name);
        }
    }
    if (changes.next_job_id) batch.next_job_id = cluster_->next_job_id();
    if (changes.next_reservation_id) batch.next_reservation_id = cluster_->next_reservation_id();
}

const core::Changes& Controller::hold_changes() {
    core::Changes more = cluster_->take_changes();
    core::Changes& held = held_changes_;
    held.jobs.merge(more.jobs);
    held.forgotten_jobs.merge(more.forgotten_jobs);
    held.unneeded_payloads.merge(more.unneeded_payloads);
    std::ranges::move(more.past_runs, std::back_inserter(held.past_runs));
    held.steps.merge(more.steps);
    held.nodes.merge(more.nodes);
    held.partitions.merge(more.partitions);
    held.reservations.merge(more.reservations);
    held.triggers.merge(more.triggers);
    held.next_job_id |= more.next_job_id;
    held.next_reservation_id |= more.next_reservation_id;
    return held;
}

const core::Changes& Controller::seal_changes(Sealed& sealed) {
    hold_changes();
    sealed.changes.push_back(std::exchange(held_changes_, {}));
    add_changes(sealed.changes.back(), sealed.batch);
    return sealed.changes.back();
}

// For those who want to see every job, or every decision of the scheduler.
void Controller::log_job(const model::Job& job) {
    if (log_.shows(Log::Topic::TraceJobs)) {
        log_.about(Log::Topic::TraceJobs, "JobId={} {} {}", model::display_id(job),
                   model::long_name(model::state_of(job)),
                   model::reason_text(model::reason_of(job)));
    }
    const auto* run = std::get_if<model::Running>(&job.phase);
    if (run == nullptr || run->started != now_ || !log_.shows(Log::Topic::Scheduler)) return;
    std::vector<std::string> nodes;
    std::uint32_t cpus = 0;
    for (const model::NodeGrant& grant : run->allocation.nodes) {
        nodes.push_back(grant.node);
        cpus += grant.cpus;
    }
    log_.about(Log::Topic::Scheduler, "{}: Allocate JobId={} NodeList={} #CPUs={} Partition={}",
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
            batch.deleted_payloads.push_back(payload);
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
