// plan.hpp: a backfill reservation, and a plan for the top of the queue in the making.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "core/cluster/planning/components.hpp"
#include "core/sched/node_pool.hpp"
#include "core/sched/planner.hpp"
#include "core/sched/queue.hpp"

namespace switchyard::core {

// So many jobs of each partition get a backfill reservation. More of them protect nobody who could
// not wait for his turn, and make everybody wait longer: small jobs find fewer gaps.
inline constexpr std::uint32_t kPlacesPerPartition = 10;
// A plan is renewed from the top; of what stands further down, one part of so many each time.
inline constexpr std::size_t kRenewedEachTime = 50;
inline constexpr std::size_t kRenewalParts = 10;

// Places kept for a job that waits, or for all components of one.
struct BackfillReservation {
    sched::QueueKey key;
    sched::PartitionIndex partition = 0;
    sched::Planned planned;
    std::vector<PlannedPart> parts = {};  // Of a heterogeneous job, which has all its nodes above.
};

// Jobs come and go between the parts in which a plan is made; what does not hold any more is left
// out when it takes the place of the present one.
struct PlanInMaking {
    struct Entry {
        sched::QueueKey key;
        sched::PartitionIndex partition;
        sched::Planned planned;
        std::vector<PlannedPart> parts;  // As in BackfillReservation.
        bool waits;                      // It cannot start now.
        bool binds;                      // It gets a reservation; else only an estimated start.
    };
    struct Kind {
        bool anew;  // Else it is the present plan, and those who came behind it.
        bool deep;  // Jobs without a reservation get an estimated start, too.
    };
    PlanInMaking(const sched::NodePool& pool, Instant now, Seconds window, Kind which,
                 std::uint64_t plans_before)
        : kind(which),
          number(plans_before),
          kept(pool.partition_count(), 0),
          horizon(now + window),
          reserved(pool.no_reservations()),
          planner(pool, reserved, now, {.from = now, .horizon = horizon}) {}
    PlanInMaking(const PlanInMaking&) = delete;

    // No more reservations are made in this partition.
    bool is_full(sched::PartitionIndex partition) const {
        return kept[partition] >= kPlacesPerPartition;
    }
    // Whether the place of the job that was seen last is looked for anew.
    bool is_renewed() const {
        const std::size_t position = seen.size();
        const bool in_turn =
            position <= kRenewedEachTime || (position + number) % kRenewalParts == 0;
        return kind.anew && in_turn;
    }

    Kind kind;
    std::uint64_t number;
    std::vector<std::uint32_t> kept;  // Jobs with a reservation, by partition.
    Instant horizon;
    sched::BackfillReservations reserved;
    sched::Planner planner;
    std::optional<sched::Queue::Stand> last;  // Planned so far.
    std::set<JobId> seen;
    // Present reservations of heterogeneous jobs that are planned later.
    std::map<JobId, std::vector<PlannedPart>> foreseen;
    std::optional<CommonStart> common_start;  // For a heterogeneous job: not done yet.
    std::vector<Entry> entries;
    std::uint32_t passes = 0;
    std::uint64_t checked = 0;  // Places of the plan before it that were looked at again.
    std::uint64_t holds_version = 0;
};

}  // namespace switchyard::core
