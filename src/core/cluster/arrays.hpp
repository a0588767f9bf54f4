// arrays.hpp: job arrays. One record stands for all elements that have not started; an element that
// starts, or is treated on its own, gets a record of its own, and the last one keeps the array's.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "core/cluster/het_jobs.hpp"
#include "core/cluster/transition.hpp"
#include "core/cluster/world.hpp"
#include "model/index_set.hpp"

namespace switchyard::core {

// What the records of one array add up to.
struct ArraySide {
    std::set<JobId> records;
    std::set<JobId> pending;    // Those of them that wait.
    std::uint32_t running = 0;  // Elements that hold resources.
    int worst_wait = 0;
    int least_wait = 0;
    bool any_ended = false, any_failed = false;
};

class Arrays {
  public:
    Arrays(World& world, const HetJobs& hets) : world_(world), hets_(hets) {}

    void load(const Job& job);
    void observe(const Transition& transition);
    void check() const;

    const ArraySide* find(JobId array) const;
    const ArraySide& of(const Job& job) const { return sides_.at(job.array->array_id); }
    // The records of a job or array that a selector names; for elements inside a pending block, the
    // block.
    std::vector<const Job*> find(const model::JobSelector& selector) const;

    // A record that stands for some of the pending elements of a block; others are left in it. One
    // element alone is no block any more.
    Job& split(Job& block, const model::IndexSet& elements);
    bool throttled(const Job& job) const;

    void set_throttle(JobId array, std::uint32_t throttle);

  private:
    ArraySide& side_of(const Job& job);
    void forget(const Job& job);
    void run_began(const Job& job);
    void run_over(const Job& job);
    // A place under the throttle has become free, or was taken.
    void review_throttled(const Job& job);
    static void add_end(ArraySide& side, const model::Outcome& outcome);

    World& world_;
    const HetJobs& hets_;
    std::map<JobId, ArraySide> sides_;
};

}  // namespace switchyard::core
