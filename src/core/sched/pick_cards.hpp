// pick_cards.hpp: which cards of a node a job gets, and which cores near them.
//
// Whole cards: those that are linked to each other, near enough free cores, and such that no larger
// group of linked cards is broken up for few. Shares: on one card where they fit, the fullest such;
// else on as few cards as hold them. All else being equal the lowest numbers win.
#pragma once

#include <cstdint>
#include <vector>

#include "core/sched/node_pool.hpp"
#include "model/resources.hpp"

namespace switchyard::core::sched {

// Serves one node's needs one after the other; what is picked is no longer there for the next.
class CardPicker {
  public:
    // `cores`: how many the job will have on the node.
    CardPicker(const NodeEntry& node, std::uint32_t cores)
        : node_(node), cores_(cores), cards_(node.devices) {}

    // Adds the grants; false: there is not enough.
    bool pick(const GresNeed& need, std::vector<model::GresGrant>& grants);
    // Cores near the cards picked so far; empty: all are alike.
    const model::IndexSet& near() const { return near_; }

  private:
    void pick_whole(const GresPool& pool, std::uint64_t& left, model::GresGrant& grant);
    void pick_shares(const GresPool& pool, std::uint64_t& left, model::GresGrant& grant);
    std::vector<std::uint32_t> group_from(std::uint32_t seed,
                                          const std::vector<std::uint32_t>& free,
                                          std::size_t count) const;
    std::array<std::uint64_t, 4> merit(const std::vector<std::uint32_t>& group,
                                       const std::vector<std::uint32_t>& free) const;
    std::uint64_t links_to(std::uint32_t card, const std::vector<std::uint32_t>& others) const;
    std::uint64_t free_on(const GresPool& pool, std::uint32_t position) const;

    const NodeEntry& node_;
    std::uint32_t cores_;
    std::vector<Device> cards_;
    std::array<std::uint64_t, kGresPoolsMax> counted_{};
    model::IndexSet near_;
};

}  // namespace switchyard::core::sched
