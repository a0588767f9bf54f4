// preemption_holds.hpp: capacity that is kept against everybody, until those whom it was taken from
// have left; or, of a job that is suspended, against those behind it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/cluster/world.hpp"
#include "core/sched/queue.hpp"

namespace switchyard::core {

struct PreemptionHold {
    PartitionIndex partition = 0;
    std::set<JobId> victims;  // Those that have not left yet.
    std::vector<std::pair<NodeIndex, sched::Reserved>> places;
    Instant expires{};  // They should have left by then.
};

class PreemptionHolds {
  public:
    PreemptionHolds(World& world, sched::Queue& queue) : world_(world), queue_(queue) {}

    void clear() { holds_.clear(); }
    bool contains(JobId job) const { return holds_.contains(job); }
    const PreemptionHold* find(JobId job) const;
    const std::map<JobId, PreemptionHold>& all() const { return holds_; }
    // Counts the changes.
    std::uint64_t version() const { return version_; }

    void put(JobId job, PreemptionHold hold);
    bool drop(JobId job);
    void victim_left(JobId by, JobId victim);
    void set_aside(JobId job, bool aside);
    void add_to(sched::BackfillReservations& reserved) const;

  private:
    World& world_;
    sched::Queue& queue_;
    // By who waits for others to leave, or for the cores that it lends.
    std::map<JobId, PreemptionHold> holds_;
    std::uint64_t version_ = 0;
};

}  // namespace switchyard::core
