// cores_ahead.cpp: see cores_ahead.hpp.

#include "core/sched/cores_ahead.hpp"

namespace switchyard::core::sched {

CoresAhead::CoresAhead(const NodeEntry& node) : CoresAhead() {
    cores = node.cores;
    all_left = node.holdings.empty() ? Instant::min() : node.holdings.back().until;
    std::uint32_t step = 0;
    const auto reach = [&](Instant from, std::uint32_t free) {
        while (step < kSteps && std::uint64_t{free} * kSteps > std::uint64_t{step} * cores)
            more_than[step++] = from;
        if (step == kSteps && free >= cores) more_than[step++] = from;
    };
    reach(Instant::min(), node.free.cores);
    for (const auto& [from, free] : node.cores_free_from) reach(from, free);
}

}  // namespace switchyard::core::sched
