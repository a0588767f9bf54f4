// statistics.hpp: what the controller counts of itself, as sdiag shows it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"

namespace switchyard::model {

// Passes of one kind over the queue.
struct CycleStatistics {
    std::uint64_t count = 0;
    std::uint64_t last_us = 0, max_us = 0, total_us = 0;
    std::uint64_t last_depth = 0, total_depth = 0;    // How many jobs were looked at.
    std::uint64_t queue_length = 0, total_queue = 0;  // How many waited: now, summed over passes.
};

struct RequestStatistics {
    std::string name;
    std::uint32_t number = 0;
    std::uint64_t count = 0, total_us = 0;
};

struct UserStatistics {
    std::uint32_t uid = 0;
    std::string user;
    std::uint64_t count = 0, total_us = 0;
};

struct Statistics {
    Instant now{}, since{};
    std::uint64_t jobs_submitted = 0, jobs_started = 0, jobs_completed = 0, jobs_cancelled = 0,
                  jobs_failed = 0, jobs_pending = 0, jobs_running = 0;
    CycleStatistics main, backfill;
    std::optional<Instant> last_backfill;
    std::uint64_t backfilled = 0, backfilled_ever = 0;   // Jobs: since `since`, since the start.
    std::uint64_t table_size = 0, total_table_size = 0;  // Of the plan of backfill.
    std::vector<RequestStatistics> requests;
    std::vector<UserStatistics> users;
};

}  // namespace switchyard::model
