// reservation_nodes.hpp: which nodes an advance reservation has, and which cores of them: those
// named, all, those of a partition, or so many as are free for it; and others in the place of those
// that fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/cluster/world.hpp"
#include "model/index_set.hpp"
#include "model/reservation.hpp"
#include "model/update.hpp"

namespace switchyard::core {

// What a reservation could have of a node.
struct CoreOffer {
    NodeIndex node = 0;
    std::size_t place = 0;  // Among those that were looked at.
    model::IndexSet open{};
    bool has_jobs = false;  // That are still there when it begins.
};

class ReservationNodes {
  public:
    using All = std::map<std::string, model::Reservation>;
    ReservationNodes(World& world, const All& all) : world_(world), all_(all) {}

    // `old`: what it was; null: it is new.
    Status settle(model::Reservation& reservation, const model::ReservationUpdate& update,
                  const model::Reservation* old) const;
    // Nodes that were picked and cannot serve are replaced by idle ones, as far as there are any.
    // With REPLACE those too that jobs have come to hold. True if any were.
    bool replenish(model::Reservation& reservation) const;
    Result<std::vector<std::string>> all_nodes(const model::Reservation& reservation) const;

  private:
    struct Candidates {
        std::size_t fit = 0;
        std::vector<std::string> free;
    };

    // --- reservation_nodes.cpp
    std::set<std::string> nodes_taken(const model::Reservation& reservation) const;
    std::vector<const model::Reservation*> rivals_of(const model::Reservation& reservation) const;
    bool holds_at_start(const model::Reservation& reservation, const sched::Holding& holding) const;
    bool held_at_start(const model::Reservation& reservation, NodeIndex node) const;
    Result<Candidates> candidates_for(const model::Reservation& reservation,
                                      const std::vector<std::string>& kept) const;
    Result<std::vector<std::string>> pick_nodes(const model::Reservation& reservation,
                                                std::uint32_t count,
                                                const std::vector<std::string>& kept) const;
    Result<std::vector<std::string>> named_nodes(model::Reservation& reservation,
                                                 const std::vector<std::string>& names) const;
    void sort_nodes(std::vector<std::string>& names) const;
    void settle_partition(model::Reservation& reservation) const;
    Result<std::optional<std::vector<std::string>>> wanted_nodes(
        model::Reservation& reservation, const model::ReservationUpdate& update, bool fresh) const;

    // --- reservation_cores.cpp
    std::optional<CoreOffer> offer_of(const model::Reservation& reservation, NodeIndex node) const;
    Result<std::vector<CoreOffer>> offers_for(const model::Reservation& reservation) const;
    Result<std::vector<CoreOffer>> named_offers(const model::Reservation& reservation) const;
    Status settle_cores(model::Reservation& reservation,
                        const model::ReservationUpdate& update) const;
    Status take_cores(model::Reservation& reservation, std::span<const CoreOffer> offers,
                      std::uint64_t cores, std::uint64_t of_each) const;
    bool replenish_cores(model::Reservation& reservation) const;

    World& world_;
    const All& all_;
};

}  // namespace switchyard::core
