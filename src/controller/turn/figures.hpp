// figures.hpp: how much there was to do and how long it took, for sdiag.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>

#include "base/time.hpp"
#include "core/cluster/cluster.hpp"

namespace switchyard::controller {

struct Figures {
    using Micros = std::chrono::microseconds;

    struct Calls {
        std::uint64_t count = 0, total_us = 0;
        void add(Micros took) {
            ++count;
            total_us += static_cast<std::uint64_t>(took.count());
        }
    };

    Instant started{};
    std::uint64_t requests = 0;

    // Since the last reset (sdiag -r).
    Instant since{};
    core::SchedulerFigures before;  // What the core had counted by then.
    std::uint64_t last_cycle_us = 0, max_cycle_us = 0, total_cycle_us = 0;
    std::uint64_t last_backfill_us = 0, max_backfill_us = 0, total_backfill_us = 0;
    Instant last_backfill{};
    std::map<int, Calls> by_request;  // Keyed by the request's body.
    std::map<std::uint32_t, Calls> by_user;

    void reset(Instant now, const core::SchedulerFigures& core) {
        const Figures old = *this;
        *this = Figures{};
        started = old.started;
        requests = old.requests;
        since = now;
        before = core;
        last_cycle_us = old.last_cycle_us;
        last_backfill_us = old.last_backfill_us;
        last_backfill = old.last_backfill;
    }

    // One call of Cluster::schedule; a pass that also planned backfill counts as such.
    void add_cycle(Micros took, bool with_backfill, Instant now) {
        const auto us = static_cast<std::uint64_t>(took.count());
        auto& last = with_backfill ? last_backfill_us : last_cycle_us;
        auto& max = with_backfill ? max_backfill_us : max_cycle_us;
        auto& total = with_backfill ? total_backfill_us : total_cycle_us;
        last = us;
        if (us > max) max = us;
        total += us;
        if (with_backfill) last_backfill = now;
    }

    void add_request(int body, std::uint32_t uid, Micros took) {
        by_request[body].add(took);
        by_user[uid].add(took);
    }
};

}  // namespace switchyard::controller
