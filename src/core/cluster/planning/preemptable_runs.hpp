// preemptable_runs.hpp: who may have to go for others, and in which order; and a look at the pool
// as if some had gone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "core/sched/node_pool.hpp"
#include "model/partition.hpp"

namespace switchyard::core {

// Who goes first: the lowest tier, then the lowest priority, then the latest start; or, with
// youngest_first, the latest start before the priority.
struct RunRank {
    std::uint32_t tier = 0;
    std::int64_t first = 0, second = 0;
    JobId job;
    sched::PartitionIndex partition = 0;
    friend bool operator<(const RunRank& a, const RunRank& b) {
        if (a.tier != b.tier) return a.tier < b.tier;
        if (a.first != b.first) return a.first < b.first;
        if (a.second != b.second) return a.second < b.second;
        return b.job < a.job;
    }
};

// Jobs that run and may be preempted, in the order in which they would be.
class PreemptableRuns {
  public:
    void put(const RunRank& rank);
    void remove(JobId job);
    void clear();
    bool contains(JobId job) const { return by_job_.contains(job); }
    bool empty() const { return order_.empty(); }
    const RunRank* find(JobId job) const;
    std::optional<std::uint32_t> lowest_tier() const;
    const std::set<RunRank>& in_order() const { return order_; }

  private:
    std::set<RunRank> order_;
    std::map<JobId, RunRank> by_job_;
};

// What goes together: a job, or all components of one.
struct PreemptUnit {
    std::vector<JobId> jobs;
    model::PreemptMode mode = model::PreemptMode::Off;
    std::vector<std::pair<sched::NodeIndex, JobId>> holds;
};

// The pool as if some had left. Everything is put back when it goes out of scope.
class LiftedRuns {
  public:
    explicit LiftedRuns(sched::NodePool& pool) : pool_(pool) {}
    ~LiftedRuns();
    LiftedRuns(const LiftedRuns&) = delete;

    // `only_cores`: it is suspended, and keeps the rest.
    void lift(sched::NodeIndex node, JobId job, bool only_cores);
    void put_back(sched::NodeIndex node, JobId job);
    void lift(const PreemptUnit& unit);
    void put_back(const PreemptUnit& unit);

  private:
    struct Lifted {
        sched::Holding holding;
        bool only_cores;
    };
    void restore(sched::NodeIndex node, const Lifted& lifted);

    sched::NodePool& pool_;
    std::map<std::pair<sched::NodeIndex, JobId>, Lifted> lifted_;
};

}  // namespace switchyard::core
