// feasibility.hpp: groups that not even idle nodes could hold, as long as no more of them are
// usable. Their jobs hold up nobody.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "core/cluster/planning/backfill.hpp"
#include "core/cluster/planning/het_places.hpp"
#include "core/cluster/planning/waiting_reasons.hpp"
#include "core/cluster/world.hpp"
#include "core/sched/queue.hpp"

namespace switchyard::core {

class Feasibility {
  public:
    Feasibility(World& world, sched::Queue& queue, Backfill& backfill, WaitingReasons& reasons,
                const HetPlaces& het)
        : world_(world), queue_(queue), backfill_(backfill), reasons_(reasons), het_(het) {}

    // Nodes came or went, or are not what they were.
    void usable_nodes_changed() { ++epoch_; }
    void review();

  private:
    using Why = std::pair<model::Reason, std::string>;
    void look_at(sched::Group& group);
    std::optional<Why> no_hope(const sched::Group& group) const;
    void settle(sched::Group& group, std::optional<Why> why);

    World& world_;
    sched::Queue& queue_;
    Backfill& backfill_;
    WaitingReasons& reasons_;
    const HetPlaces& het_;
    std::uint32_t epoch_ = 1;
    std::uint32_t seen_ = 0;  // The epoch of the last review.
};

}  // namespace switchyard::core
