// figures.hpp: how long things took, for sdiag.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/time.hpp"

namespace switchyard::controller {

struct Figures {
    Instant started{};
    std::uint64_t requests = 0;
    std::uint64_t last_cycle_us = 0, max_cycle_us = 0, total_cycle_us = 0;
    std::uint64_t last_backfill_us = 0, max_backfill_us = 0, total_backfill_us = 0;

    // One call of Cluster::schedule; a pass that also planned backfill counts as such.
    void add_cycle(std::chrono::microseconds took, bool with_backfill) {
        const auto us = static_cast<std::uint64_t>(took.count());
        auto& last = with_backfill ? last_backfill_us : last_cycle_us;
        auto& max = with_backfill ? max_backfill_us : max_cycle_us;
        auto& total = with_backfill ? total_backfill_us : total_cycle_us;
        last = us;
        if (us > max) max = us;
        total += us;
    }
};

}  // namespace switchyard::controller
