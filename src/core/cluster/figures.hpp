// figures.hpp: the scheduler's counters, for sdiag and status.
#pragma once

#include <cstdint>

namespace switchyard::core {

struct SchedulerFigures {
    std::uint64_t main_cycles = 0, backfill_cycles = 0;
    std::uint64_t jobs_submitted = 0, jobs_started = 0, jobs_completed = 0, jobs_cancelled = 0,
                  jobs_failed = 0, jobs_backfilled = 0;
    std::uint64_t last_depth = 0, last_backfill_depth = 0;
    std::uint64_t total_depth = 0, total_backfill_depth = 0;  // Summed over the cycles.
    std::uint64_t queue_length = 0, backfill_queue_length = 0, total_backfill_queue_length = 0;
    std::uint64_t table_size = 0, total_table_size = 0;  // Reservations that backfill made.
    std::uint64_t stalls = 0;  // Timers or passes that came again and again and changed nothing.
};

}  // namespace switchyard::core
