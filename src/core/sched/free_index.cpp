// free_index.cpp: the tournament tree behind FreeIndex.

#include "core/sched/free_index.hpp"

#include <algorithm>
#include <bit>

#include "base/assert.hpp"

namespace switchyard::core::sched {

FreeIndex::FreeIndex(std::uint32_t places)
    : places_(places), leaves_(places == 0 ? 0 : std::bit_ceil(places)), tree_(2u * leaves_, 0) {}

void FreeIndex::set(std::uint32_t place, std::uint32_t free_cores) {
    SY_ASSERT(place < places_);
    std::uint32_t at = leaves_ + place;
    if (tree_[at] == free_cores) return;
    tree_[at] = free_cores;
    for (at /= 2; at >= 1; at /= 2) {
        const std::uint32_t best = std::max(tree_[2 * at], tree_[2 * at + 1]);
        if (tree_[at] == best) break;
        tree_[at] = best;
    }
}

std::uint32_t FreeIndex::find(std::uint32_t from, std::uint32_t cores) const {
    const std::uint32_t wanted = std::max(1u, cores);
    if (from >= places_ || tree_[1] < wanted) return kNone;
    // Climb from the leaf until a subtree to the right (or this one) holds enough, then descend
    // leftmost.
    std::uint32_t at = leaves_ + from;
    while (tree_[at] < wanted) {
        while ((at & 1) != 0) {
            if (at == 1) return kNone;
            at /= 2;
        }
        if (at == 0) return kNone;
        ++at;
    }
    while (at < leaves_) at = tree_[2 * at] >= wanted ? 2 * at : 2 * at + 1;
    return at - leaves_;
}

}  // namespace switchyard::core::sched
