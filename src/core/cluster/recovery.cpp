// recovery.cpp: from records to the derived tables, at start and after a reconfiguration.

#include <algorithm>
#include <utility>

#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {

void Cluster::Impl::load(Records records) {
    machines_.load(records.nodes);
    partitions_ = settings_.partitions;
    for (const model::PartitionRecord& record : records.partitions) {
        if (record.deleted) deleted_partitions_.insert(record.partition.name);
    }
    std::erase_if(partitions_, [&](const auto& p) { return deleted_partitions_.contains(p.name); });
    for (auto& [partition, deleted] : records.partitions) {
        if (deleted) continue;
        runtime_partitions_.insert(partition.name);
        if (const auto index = partition_index(partition.name)) {
            partitions_[*index] = std::move(partition);
        } else {
            partitions_.push_back(std::move(partition));
        }
    }
    world_.next_job_id = JobId{std::max(settings_.first_job_id, records.next_job_id.value)};
    calendar_.load(std::move(records.reservations), records.next_reservation_id);
    if (records.restored) {
        restore_.begin();
        for (NodeIndex i = 0; i < nodes_.size(); ++i) machines_.side(i).owes_journal = true;
    }
    triggers_.load(std::move(records.triggers), records.last_trigger_id);
    machines_.pause();
    reset_tables();
    calendar_.derive();  // Each job that waits is to see it.
    settle();
    std::vector<JobId> entangled;
    if (records.jobs) {
        records.jobs([&](Job record, std::vector<model::Step> steps) {
            take_record(std::move(record), std::move(steps), entangled);
        });
    }
    machines_.resume();
    machines_.all_changed();
    calendar_.set_windows();  // When one ends depends on the jobs that run in it.
    // Verdicts that were due while nobody was there are changes like any other.
    review_each(entangled);
    end_orphans();
    settle();
    triggers_.resume();
}

void Cluster::Impl::review_each(const std::vector<JobId>& ids) {
    for (const JobId id : ids) {
        jobs_.fold_idle();
        if (Job* job = find_job(id)) {
            job_timers_.retime(*job);
            review(*job);
        }
    }
}

// One look at each record is enough for most. What those may do that depend on others is seen when
// all are here.
void Cluster::Impl::take_record(Job record, std::vector<model::Step> steps,
                                std::vector<JobId>& entangled) {
    jobs_.fold_idle();
    for (model::Step& step : steps) steps_.emplace(step.key, std::move(step));
    // A record can be newer than the stored counter only if it is part of the same transaction.
    world_.next_job_id = std::max(world_.next_job_id, JobId{record.id.value + 1});
    restore_.load(record.id);
    Job& job = jobs_.add(std::move(record));
    load(job);
    planning_.preemption.renew(job);
    claim(job);
    const JobSpec& spec = *job.spec;
    if (job.array || job.het || !spec.dependency.empty() || spec.deadline ||
        !spec.licenses.empty() || !spec.reservation.empty()) {
        entangled.push_back(job.id);
        return;
    }
    job_timers_.retime(job);
    review(job);
}

// Nodes that nobody holds, partitions without a queue: what is known before any job is looked at.
void Cluster::Impl::reset_tables() {
    machines_.clear();
    clear_owners();
    pool_.reset(nodes_, settings_.unit);
    pool_.set_partitions(partitions_);
    for (const model::Partition& partition : partitions_) {
        for (const std::string& name : partition.nodes) {
            if (const auto node = node_index(name))
                nodes_[*node].partitions.push_back(partition.name);
        }
    }
    for (NodeIndex i = 0; i < nodes_.size(); ++i) machines_.refresh(i);
}

// Holdings, queue and timers anew, from nodes, partitions and jobs.
void Cluster::Impl::rebuild() {
    const std::set<JobId> holders = machines_.holders();
    machines_.pause();
    reset_tables();
    for (const JobId id : holders) {
        planning_.preemption.renew(jobs_.at(id));
        claim(jobs_.at(id));
    }
    machines_.resume();
    machines_.all_changed();
    calendar_.derive();
    settle();
    review_each(jobs_.ids());
}

void Cluster::Impl::on(const event::Reconfigure& event) {
    settings_ = event.settings;
    machines_.reconfigure();
    std::vector<model::Partition> partitions = settings_.partitions;
    std::erase_if(partitions, [&](const auto& p) { return deleted_partitions_.contains(p.name); });
    for (const std::string& name : runtime_partitions_) {
        const auto old = partition_index(name);
        if (!old) continue;
        const auto same = [&](const model::Partition& p) { return p.name == name; };
        const auto found = std::ranges::find_if(partitions, same);
        if (found != partitions.end()) {
            *found = partitions_[*old];
        } else {
            partitions.push_back(partitions_[*old]);
        }
    }
    partitions_ = std::move(partitions);
    planning_.feasibility.usable_nodes_changed();
    rebuild();
    triggers_.renew_nodes();
    triggers_.cluster_event(model::TriggerType::Reconfig, "reconfig");
    if (event.token) reply(*event.token, reply::Done{});
}

}  // namespace switchyard::core
