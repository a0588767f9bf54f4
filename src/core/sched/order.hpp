// order.hpp: who is ahead of whom.
#pragma once

#include <cstdint>

#include "base/ids.hpp"

namespace switchyard::core::sched {

// Smaller comes first: the higher partition tier, then the higher priority, then the earlier
// submission.
struct QueueKey {
    std::uint32_t tier = 0;
    std::uint32_t priority = 0;
    std::uint32_t sequence = 0;
    JobId job;

    bool operator==(const QueueKey&) const = default;
    friend bool operator<(const QueueKey& a, const QueueKey& b) {
        if (a.tier != b.tier) return a.tier > b.tier;
        if (a.priority != b.priority) return a.priority > b.priority;
        if (a.sequence != b.sequence) return a.sequence < b.sequence;
        return a.job < b.job;
    }
};
// Behind everybody: what a question such as --test-only asks from.
inline constexpr QueueKey kLastKey{0, 0, 0xffffffff, JobId{0xffffffff}};

}  // namespace switchyard::core::sched
