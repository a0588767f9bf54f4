// starter.hpp: starts what fits now, in the order of the queue.
#pragma once

#include <cstdint>

#include "core/cluster/arrays.hpp"
#include "core/cluster/cluster.hpp"
#include "core/cluster/licenses.hpp"
#include "core/cluster/planning/backfill.hpp"
#include "core/cluster/planning/find_room.hpp"
#include "core/cluster/planning/het_places.hpp"
#include "core/cluster/planning/preemption_holds.hpp"
#include "core/cluster/world.hpp"
#include "core/sched/offers.hpp"
#include "core/sched/queue.hpp"

namespace switchyard::core {

class Starter {
  public:
    Starter(World& world, sched::Queue& queue, Backfill& backfill, PreemptionHolds& holds,
            HetPlaces& het, const Licenses& licenses, const Arrays& arrays, Cluster::Impl& cluster)
        : world_(world),
          queue_(queue),
          backfill_(backfill),
          holds_(holds),
          het_(het),
          licenses_(licenses),
          arrays_(arrays),
          cluster_(cluster) {}

    void clear() { offers_.clear(); }
    bool start_what_fits(std::uint32_t& attempts);
    Try try_start(sched::Group& group, sched::QueueKey key);

  private:
    bool start_in_line(std::uint32_t& attempts);
    bool take_up_offer();
    Try try_beside(sched::Group& group, sched::QueueKey key);
    bool start_together(const Job& leader, bool backfilled);

    World& world_;
    sched::Queue& queue_;
    Backfill& backfill_;
    PreemptionHolds& holds_;
    HetPlaces& het_;
    const Licenses& licenses_;
    const Arrays& arrays_;
    Cluster::Impl& cluster_;
    sched::Offers offers_;  // What the last pass had no time for.
};

}  // namespace switchyard::core
