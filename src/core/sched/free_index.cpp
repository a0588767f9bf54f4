// free_index.cpp: the tournament tree behind FreeIndex.

#include "core/sched/free_index.hpp"

#include <algorithm>
#include <bit>

#include "base/assert.hpp"

namespace switchyard::core::sched {
namespace {

Capacity most_of(const Capacity& a, const Capacity& b) {
    return {std::max(a.cores, b.cores),   std::max(a.gpus, b.gpus),
            std::max(a.memory, b.memory), a.idle || b.idle,
            std::max(a.until, b.until),   std::max(a.cores_beside, b.cores_beside)};
}

bool has(const Capacity& capacity, const Least& least) {
    return capacity.cores >= std::max(1u, least.cores) && capacity.memory >= least.memory &&
           capacity.gpus >= least.gpus && (capacity.idle || !least.idle) &&
           (!least.heeds || capacity.until >= least.end || capacity.cores_beside >= least.cores);
}

}  // namespace

FreeIndex::FreeIndex(std::uint32_t places)
    : places_(places), leaves_(places == 0 ? 0 : std::bit_ceil(places)), tree_(2u * leaves_) {}

void FreeIndex::set(std::uint32_t place, const Capacity& capacity) {
    SY_ASSERT(place < places_);
    std::uint32_t at = leaves_ + place;
    if (tree_[at] == capacity) return;
    total_cores_ += capacity.cores;
    total_cores_ -= tree_[at].cores;
    tree_[at] = capacity;
    for (at /= 2; at >= 1; at /= 2) {
        const Capacity most = most_of(tree_[2 * at], tree_[2 * at + 1]);
        if (tree_[at] == most) break;
        tree_[at] = most;
    }
}

std::uint32_t FreeIndex::find(std::uint32_t from, const Least& least) const {
    if (from >= places_ || !has(tree_[1], least)) return kNone;
    // Into a subtree that may have it, else on to the next one to the right.
    for (std::uint32_t at = leaves_ + from;;) {
        if (has(tree_[at], least)) {
            if (at >= leaves_) return at - leaves_;
            at *= 2;
            continue;
        }
        while ((at & 1) != 0) {
            if (at == 1) return kNone;
            at /= 2;
        }
        ++at;
    }
}

}  // namespace switchyard::core::sched
