// fake_disk.hpp: what the store would hold, kept in memory. Tests and the simulator restart a
// Cluster from it, so a change that the core forgets to name is found out.
#pragma once

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/assert.hpp"
#include "core/cluster/cluster.hpp"

namespace switchyard::core::testing {

// The content of the records one take_changes() named, as of then.
struct Transaction {
    std::map<JobId, model::Job> jobs;
    std::set<JobId> forgotten;
    std::map<StepKey, model::Step> steps;
    std::map<std::string, model::Node> nodes;
    std::map<std::string, std::optional<model::Partition>> partitions;
    std::set<std::string> deleted;
    std::optional<JobId> next_job_id;
    std::map<std::uint32_t, std::optional<model::Trigger>> triggers;
    std::map<std::string, std::optional<model::Reservation>> reservations;
    std::optional<std::uint32_t> next_reservation_id;
};

inline Transaction prepare(const Cluster& cluster, const Changes& changes) {
    Transaction batch;
    for (const JobId id : changes.jobs) {
        if (const auto found = cluster.jobs().find(id); found != cluster.jobs().end()) {
            batch.jobs.insert_or_assign(id, found->second);
        }
    }
    batch.forgotten = changes.forgotten_jobs;
    for (const StepKey& key : changes.steps) {
        if (const auto found = cluster.steps().find(key); found != cluster.steps().end()) {
            batch.steps.insert_or_assign(key, found->second);
        }
    }
    for (const std::string& name : changes.nodes) {
        if (const model::Node* node = cluster.find_node(name))
            batch.nodes.insert_or_assign(name, *node);
    }
    for (const std::string& name : changes.partitions) {
        batch.partitions[name].reset();
        for (const model::Partition& partition : cluster.partitions()) {
            if (partition.name == name) batch.partitions[name] = partition;
        }
    }
    const auto deleted = cluster.deleted_partitions();
    batch.deleted = {deleted.begin(), deleted.end()};
    if (changes.next_job_id) batch.next_job_id = cluster.next_job_id();
    for (const std::uint32_t id : changes.triggers) {
        const auto found = cluster.triggers().find(id);
        batch.triggers[id] =
            found != cluster.triggers().end() ? std::optional(found->second) : std::nullopt;
    }
    for (const std::string& name : changes.reservations) {
        batch.reservations[name].reset();
        if (const auto found = cluster.reservations().find(name);
            found != cluster.reservations().end())
            batch.reservations[name] = found->second;
    }
    if (changes.next_reservation_id) batch.next_reservation_id = cluster.next_reservation_id();
    return batch;
}

class FakeDisk {
  public:
    void commit(const Cluster& cluster, const Changes& changes) {
        apply(prepare(cluster, changes));
    }

    // All of it, or nothing: that is what the store's transactions are.
    void apply(const Transaction& batch) {
        for (const auto& [id, job] : batch.jobs) jobs_.insert_or_assign(id, job);
        for (const auto& [key, step] : batch.steps) steps_.insert_or_assign(key, step);
        for (const JobId id : batch.forgotten) {
            if (const auto found = jobs_.find(id); found != jobs_.end())
                history_.insert_or_assign(id, found->second);
            jobs_.erase(id);
            const auto first = steps_.lower_bound(StepKey{id, Attempt{0}, StepId{0}});
            auto last = first;
            while (last != steps_.end() && last->first.job == id) ++last;
            steps_.erase(first, last);
        }
        for (const auto& [name, node] : batch.nodes) nodes_.insert_or_assign(name, node);
        for (const auto& [name, partition] : batch.partitions) {
            partitions_.erase(name);
            if (partition) partitions_.emplace(name, *partition);
        }
        deleted_ = batch.deleted;
        if (batch.next_job_id) next_job_id_ = *batch.next_job_id;
        for (const auto& [id, trigger] : batch.triggers) {
            triggers_.erase(id);
            last_trigger_id_ = std::max(last_trigger_id_, id);
            if (trigger) triggers_.emplace(id, *trigger);
        }
        for (const auto& [name, reservation] : batch.reservations) {
            reservations_.erase(name);
            if (reservation) reservations_.emplace(name, *reservation);
        }
        if (batch.next_reservation_id) next_reservation_id_ = *batch.next_reservation_id;
    }

    // An older copy takes its place. Numbers of jobs are kept beside the store as well.
    void roll_back_to(const FakeDisk& older) {
        const JobId next = next_job_id_;
        *this = older;
        next_job_id_ = std::max(next_job_id_, next);
    }

    // A record that was set aside (slurmctld --quarantine).
    void drop(JobId id) {
        jobs_.erase(id);
        std::erase_if(steps_, [&](const auto& entry) { return entry.first.job == id; });
    }

    Records load() const {
        Records records;
        records.jobs = [jobs = jobs_, steps = steps_](const Records::TakeJob& take) {
            for (const auto& [id, job] : jobs) {
                std::vector<model::Step> own;
                auto at = steps.lower_bound(StepKey{id, Attempt{0}, StepId{0}});
                for (; at != steps.end() && at->first.job == id; ++at) own.push_back(at->second);
                take(job, std::move(own));
            }
        };
        for (const auto& [name, node] : nodes_) records.nodes.push_back(node);
        for (const auto& [name, partition] : partitions_) records.partitions.push_back(partition);
        records.deleted_partitions = {deleted_.begin(), deleted_.end()};
        records.next_job_id = next_job_id_;
        for (const auto& [id, trigger] : triggers_) records.triggers.push_back(trigger);
        records.last_trigger_id = last_trigger_id_;
        for (const auto& [name, reservation] : reservations_)
            records.reservations.push_back(reservation);
        records.next_reservation_id = next_reservation_id_;
        return records;
    }

    // Aborts if memory holds a truth that was not written. Reasons, plans and the like are derived.
    void check_against(const Cluster& cluster) const {
        for (const auto& [id, job] : cluster.jobs()) {
            const auto found = jobs_.find(id);
            const bool same = found != jobs_.end() && truth_of(found->second) == truth_of(job);
            if (!same) std::fprintf(stderr, "the record of job %u was not written\n", id.value);
            SY_ASSERT(same);
        }
        SY_ASSERT(jobs_.size() == cluster.jobs().size());
        for (const auto& [key, step] : cluster.steps()) {
            const auto found = steps_.find(key);
            SY_ASSERT(found != steps_.end());
            SY_ASSERT(found->second == step);
        }
        SY_ASSERT(steps_.size() == cluster.steps().size());
        SY_ASSERT(triggers_ == cluster.triggers());
        SY_ASSERT(reservations_ == cluster.reservations());
    }

    const std::map<JobId, model::Job>& jobs() const { return jobs_; }
    const std::map<JobId, model::Job>& history() const {
        return history_;
    }  // Those that left memory.

  private:
    static model::Job truth_of(model::Job job) {
        job.last_evaluated.reset();
        // Written a moment later (core/cluster/begun.cpp).
        if (auto* running = std::get_if<model::Running>(&job.phase)) running->begun = false;
        if (auto* suspended = std::get_if<model::Suspended>(&job.phase))
            suspended->run.begun = false;
        if (auto* pending = std::get_if<model::Pending>(&job.phase)) {
            pending->reason = model::Reason::None;
            pending->detail.clear();
            pending->planned_start.reset();
            pending->planned_nodes.clear();
        }
        return job;
    }

    std::map<JobId, model::Job> jobs_, history_;
    std::map<StepKey, model::Step> steps_;
    std::map<std::string, model::Node> nodes_;
    std::map<std::string, model::Partition> partitions_;
    std::set<std::string> deleted_;
    JobId next_job_id_{0};
    std::map<std::uint32_t, model::Trigger> triggers_;
    std::uint32_t last_trigger_id_ = 0;
    std::map<std::string, model::Reservation> reservations_;
    std::uint32_t next_reservation_id_ = 0;
};

}  // namespace switchyard::core::testing
