// granted_card.hpp: what a node's inventory says of one card, and how much of it a share is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/gres.hpp"

namespace switchyard::gpu {

struct GrantedCard {
    std::string name;              // As the driver calls it (a UUID); empty: it has no name.
    std::uint64_t memory_mib = 0;  // 0: not known.
    model::IndexSet cores;         // Near it; empty: all.
};
// `device`: its number on the node.
GrantedCard find_card(const std::vector<model::GresInventory>& node, std::uint32_t device);

// `amount` shares of `card`, which has `per_card` of them, in bytes; 0: not known.
std::uint64_t share_bytes(const GrantedCard& card, std::uint64_t amount, std::uint64_t per_card);

}  // namespace switchyard::gpu
