// backfill_reservations.cpp: see backfill_reservations.hpp.

#include "core/sched/backfill_reservations.hpp"

#include <algorithm>

namespace switchyard::core::sched {

void BackfillReservations::add(NodeIndex node, const Places& places, Reserved reserved) {
    for (const auto& [partition, place] : places) ends_[partition].insert({reserved.until, place});
    if (!last_key_ || *last_key_ < reserved.key) last_key_ = reserved.key;
    nodes_[node].reserved.push_back(std::move(reserved));
    ++nodes_[node].version;
    ++changes_;
    added_.push_back({node, static_cast<std::uint32_t>(nodes_[node].reserved.size() - 1)});
}

void BackfillReservations::drop(NodeIndex node, const Places& places, JobId job) {
    auto& here = nodes_[node].reserved;
    std::vector<Instant> ended;
    std::erase_if(here, [&](const Reserved& reserved) {
        if (reserved.job != job) return false;
        ended.push_back(reserved.until);
        return true;
    });
    for (const Instant until : ended) {
        // Somebody else's place may end at the same moment.
        if (std::ranges::find(here, until, &Reserved::until) != here.end()) continue;
        for (const auto& [partition, place] : places) ends_[partition].erase({until, place});
    }
    ++nodes_[node].version;
    ++changes_;
    ++drops_;
    added_.clear();
}

}  // namespace switchyard::core::sched
