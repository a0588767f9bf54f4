// components.hpp: the components of a heterogeneous job as the scheduler sees them: what each
// needs, where it may run, and where it would.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "core/sched/fit.hpp"
#include "core/sched/order.hpp"
#include "core/sched/planner.hpp"

namespace switchyard::core {

struct Component {
    struct Where {
        sched::PartitionIndex partition = 0;
        sched::Demand demand;
        sched::QueueKey key;  // The same of all components.
    };
    JobId job;  // None of a submission that is only being looked at.
    Seconds limit{};
    std::vector<Where> where;

    const Where* in(sched::PartitionIndex partition) const {
        const auto found = std::ranges::find(where, partition, &Where::partition);
        return found == where.end() ? nullptr : &*found;
    }
};

// A component's place in a plan.
struct PlannedPart {
    JobId job;
    sched::PartitionIndex partition = 0;
    sched::Planned planned;
};

// A common start is looked for in parts; so far it got.
struct CommonStart {
    JobId leader;
    Instant from{};  // None of them can begin together with all others before it.
    std::uint32_t rounds = 0;
    std::uint64_t looked_at = 0;  // Moments and nodes.
};
struct SearchBounds {
    Instant horizon{};
    std::uint32_t rounds = 0;
    std::uint64_t looks = UINT64_MAX;  // With more it is continued later.
};

// Components take what they find first, so who comes first may take what only a later one could
// have used. So many orders are tried.
inline constexpr std::size_t kOrdersMax = 6;

// `attempt` gets numbers of components in the order in which they are to be placed, and returns the
// position of the one that found nothing; none: all did. That one comes first in the next attempt,
// and if it finds nothing even then, nothing helps.
template <class Attempt>
bool in_some_order(std::size_t count, Attempt attempt) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t tries = 0; tries < std::min(count + 1, kOrdersMax); ++tries) {
        const std::optional<std::size_t> failed = attempt(std::as_const(order));
        if (!failed) return true;
        if (*failed == 0) return false;
        const auto late = order.begin() + static_cast<std::ptrdiff_t>(*failed);
        std::rotate(order.begin(), late, late + 1);
    }
    return false;
}

}  // namespace switchyard::core
