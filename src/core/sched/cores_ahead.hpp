// cores_ahead.hpp: from when on a node may have some part of its cores free; one line of the cache
// for each node.
//
// A plan passes over every holder that leaves, and most of them leave a node that is still too
// full. The steps say so without a look at the node itself.
#pragma once

#include <array>
#include <cstdint>

#include "core/sched/node_entry.hpp"

namespace switchyard::core::sched {

struct CoresAhead {
    static constexpr std::uint32_t kSteps = 5;
    // From when on more than so many fifths of the cores are free; the last one: all of them.
    std::array<Instant, kSteps + 1> more_than;
    Instant all_left = Instant::max();  // When the last holder has gone.
    std::uint32_t cores = 0;

    CoresAhead() { more_than.fill(Instant::max()); }
    explicit CoresAhead(const NodeEntry& node);

    // False: so many cores are certainly not free then.
    bool may_have(std::uint32_t wanted, Instant at) const {
        if (wanted == 0) return true;
        if (wanted > cores) return false;
        const std::uint32_t step = wanted == cores ? kSteps : (wanted - 1) * kSteps / cores;
        return more_than[step] <= at;
    }
};

}  // namespace switchyard::core::sched
