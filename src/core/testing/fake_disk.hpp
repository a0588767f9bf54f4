// fake_disk.hpp: what the store would hold, kept in memory. Tests and the simulator restart a
// Cluster from it, so a change that the core forgets to hand out is found out.
#pragma once

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>

#include "base/assert.hpp"
#include "core/cluster/cluster.hpp"

namespace switchyard::core::testing {

class FakeDisk {
  public:
    // All of it, or nothing: that is what the store's transactions are.
    void apply(const Changes& changes) {
#define SY_APPLY(Type, plural, Key, key) apply(changes.plural, plural##_);
        SY_RECORDS(SY_APPLY)
#undef SY_APPLY
        for (const auto& [id, trigger] : changes.triggers)
            last_trigger_id_ = std::max(last_trigger_id_, id);
        if (changes.next_job_id) next_job_id_ = *changes.next_job_id;
        if (changes.next_reservation_id) next_reservation_id_ = *changes.next_reservation_id;
        for (const JobId id : changes.forgotten_jobs) {
            if (const auto found = jobs_.find(id); found != jobs_.end())
                history_.insert_or_assign(id, found->second);
            drop(id);
        }
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
#define SY_LOAD(Type, plural, Key, key) \
    for (const auto& [name, record] : plural##_) records.plural.push_back(record);
        SY_CLUSTER_RECORDS(SY_LOAD)
#undef SY_LOAD
        records.next_job_id = next_job_id_;
        records.last_trigger_id = last_trigger_id_;
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

    template <class Key, class Record>
    static void apply(const model::Changed<Key, Record>& changed, std::map<Key, Record>& records) {
        for (const auto& [key, record] : changed) {
            records.erase(key);
            if (record) records.emplace(key, *record);
        }
    }

#define SY_HELD(Type, plural, Key, key) std::map<Key, model::Type> plural##_;
    SY_RECORDS(SY_HELD)
#undef SY_HELD
    std::map<JobId, model::Job> history_;
    JobId next_job_id_{0};
    std::uint32_t last_trigger_id_ = 0, next_reservation_id_ = 0;
};

}  // namespace switchyard::core::testing
