#include "gpu/granted_card.hpp"

#include <algorithm>

namespace switchyard::gpu {

GrantedCard find_card(const std::vector<model::GresInventory>& node, std::uint32_t device) {
    for (const model::GresInventory& entry : node) {
        if (entry.name != "gpu") continue;
        const auto numbers = entry.devices.to_vector();
        const auto found = std::ranges::find(numbers, device);
        if (found == numbers.end()) continue;
        const auto at = static_cast<std::size_t>(found - numbers.begin());
        GrantedCard card;
        card.cores = at < entry.device_cores.size() ? entry.device_cores[at] : entry.cores;
        if (at < entry.device_names.size()) card.name = entry.device_names[at];
        if (at < entry.device_memory.size()) card.memory_mib = entry.device_memory[at];
        return card;
    }
    return {};
}

std::uint64_t share_bytes(const GrantedCard& card, std::uint64_t amount, std::uint64_t per_card) {
    return per_card == 0 ? 0 : card.memory_mib * amount / per_card << 20;
}

}  // namespace switchyard::gpu
