#include "model/grant_sums.hpp"

#include <algorithm>

namespace switchyard::model {

void subtract_grants(std::vector<GresGrant>& sum, const std::vector<GresGrant>& less) {
    for (const GresGrant& grant : less) {
        for (GresGrant& held : sum) {
            if (held.name != grant.name || held.type != grant.type) continue;
            held.count -= std::min(held.count, grant.count);
            held.devices.erase(grant.devices);
            for (const auto& share : grant.shares) {
                for (auto& kept : held.shares) {
                    if (kept.device == share.device)
                        kept.amount -= std::min(kept.amount, share.amount);
                }
            }
            std::erase_if(held.shares, [](const auto& share) { return share.amount == 0; });
        }
    }
    std::erase_if(sum, [](const GresGrant& grant) { return grant.count == 0; });
}

}  // namespace switchyard::model
