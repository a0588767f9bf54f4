#include "core/sched/pick_cards.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace switchyard::core::sched {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

}  // namespace

std::uint64_t CardPicker::links_to(std::uint32_t card,
                                   const std::vector<std::uint32_t>& others) const {
    return static_cast<std::uint64_t>(std::ranges::count_if(others, [&](std::uint32_t other) {
        return other != card && cards_[card].links.contains(cards_[other].index);
    }));
}

// The seed and, one by one, the card that fits best to those already there.
std::vector<std::uint32_t> CardPicker::group_from(std::uint32_t seed,
                                                  const std::vector<std::uint32_t>& free,
                                                  std::size_t count) const {
    std::vector<std::uint32_t> group{seed};
    while (group.size() < count) {
        std::optional<std::uint32_t> best;
        std::pair<std::uint64_t, bool> best_merit{};
        for (const std::uint32_t card : free) {
            if (std::ranges::find(group, card) != group.end()) continue;
            const std::pair merit{links_to(card, group), cards_[card].cores == cards_[seed].cores};
            if (best && merit <= best_merit) continue;
            best = card;
            best_merit = merit;
        }
        if (!best) break;
        group.push_back(*best);
    }
    return group;
}

// The larger the better, the first place counting most.
std::array<std::uint64_t, 4> CardPicker::merit(const std::vector<std::uint32_t>& group,
                                               const std::vector<std::uint32_t>& free) const {
    model::IndexSet near;
    bool anywhere = false;
    std::uint64_t inside = 0, outside = 0, places = 0;
    for (std::size_t at = 0; at < group.size(); ++at) {
        const Device& card = cards_[group[at]];
        anywhere |= card.cores.empty();
        if (!near.intersects(card.cores)) ++places;
        near.insert(card.cores);
        inside += links_to(group[at], group);
        outside += links_to(group[at], free);
    }
    std::uint64_t cores = 0;
    for (const std::uint32_t core : near.to_vector()) {
        if (core < node_.core_holders.size() && node_.core_holders[core] == 0) ++cores;
    }
    const bool enough = anywhere || cores >= cores_;
    return {inside, enough ? 1u : 0u, kMost - places, kMost - (outside - inside)};
}

void CardPicker::pick_whole(const GresPool& pool, std::uint64_t& left, model::GresGrant& grant) {
    std::vector<std::uint32_t> free;
    for (const std::uint32_t position : pool.devices) {
        if (!cards_[position].taken && cards_[position].shares_used == 0) free.push_back(position);
    }
    const std::size_t count = std::min<std::uint64_t>(left, free.size());
    if (count == 0) return;
    std::vector<std::uint32_t> best = free;
    if (count < free.size()) {
        std::optional<std::array<std::uint64_t, 4>> best_merit;
        for (const std::uint32_t seed : free) {
            std::vector<std::uint32_t> group = group_from(seed, free, count);
            const auto found = merit(group, free);
            if (best_merit && found <= *best_merit) continue;
            best_merit = found;
            best = std::move(group);
        }
    }
    for (const std::uint32_t position : best) {
        cards_[position].taken = true;
        grant.devices.insert(cards_[position].index);
        near_.insert(cards_[position].cores);
    }
    grant.count += count;
    left -= count;
}

std::uint64_t CardPicker::free_on(const GresPool& pool, std::uint32_t position) const {
    const Device& card = cards_[position];
    if (card.taken || (card.shares_used > 0 && card.shared_as != pool.name)) return 0;
    return pool.per_device - std::min(pool.per_device, card.shares_used);
}

void CardPicker::pick_shares(const GresPool& pool, std::uint64_t& left, model::GresGrant& grant) {
    while (left > 0) {
        std::optional<std::uint32_t> best;
        for (const std::uint32_t position : pool.devices) {
            const std::uint64_t free = free_on(pool, position);
            if (free == 0) continue;
            if (!best) {
                best = position;
                continue;
            }
            const std::uint64_t best_free = free_on(pool, *best);
            const bool fits = free >= left, best_fits = best_free >= left;
            if (fits != best_fits ? fits : (fits ? free < best_free : free > best_free))
                best = position;
        }
        if (!best) break;
        const std::uint64_t amount = std::min(left, free_on(pool, *best));
        cards_[*best].shares_used += amount;
        cards_[*best].shared_as = pool.name;
        grant.shares.push_back({cards_[*best].index, amount});
        near_.insert(cards_[*best].cores);
        grant.count += amount;
        left -= amount;
    }
    std::ranges::sort(grant.shares, {}, &model::GresGrant::Share::device);
}

bool CardPicker::pick(const GresNeed& need, std::vector<model::GresGrant>& grants) {
    std::uint64_t left = need.count;
    for (std::size_t at = 0; at < node_.pools.size() && left > 0; ++at) {
        const GresPool& pool = node_.pools[at];
        if (pool.name != need.name || (!need.type.empty() && pool.type != need.type)) continue;
        model::GresGrant grant;
        grant.name = pool.name;
        grant.type = pool.type;
        if (pool.devices.empty()) {
            const std::uint64_t free =
                pool.total - std::min(pool.total, pool.counted_used + counted_[at]);
            grant.count = std::min(left, free);
            counted_[at] += grant.count;
            left -= grant.count;
        } else if (pool.shared) {
            pick_shares(pool, left, grant);
        } else {
            pick_whole(pool, left, grant);
        }
        if (grant.count > 0) model::add_grants(grants, {grant});
    }
    return left == 0;
}

}  // namespace switchyard::core::sched
