// supply.cpp: see supply.hpp.

#include "core/sched/supply.hpp"

#include <algorithm>

namespace switchyard::core::sched {
namespace {

// Of anything, also of what is not summed up here.
bool has_more(const Room& room, const Room& before) {
    bool more =
        room.cores > before.cores || room.memory > before.memory || room.holders < before.holders;
    for (std::size_t at = 0; at < room.gres.size(); ++at) more |= room.gres[at] > before.gres[at];
    return more;
}

}  // namespace

std::uint32_t gpus_in(const NodeEntry& node, const Room& room) {
    std::uint32_t gpus = 0;
    for (std::size_t at = 0; at < node.pools.size(); ++at) {
        if (node.pools[at].name == "gpu") gpus += room.gres[at];
    }
    return gpus;
}

Supply::Supply(const NodePool& pool, PartitionIndex partition, Outlook& outlook,
               const QueueKey& key) {
    std::vector<Slot> changes;
    for (const NodeIndex index : pool.order(partition)) {
        const NodeEntry& node = pool.node(index);
        if (!node.usable) continue;
        Room before;
        for (const NodeLine::Slot& slot : outlook.line(index, key).slots()) {
            const Amounts change{std::int64_t{slot.room.cores} - before.cores,
                                 std::int64_t{gpus_in(node, slot.room)} - gpus_in(node, before)};
            changes.push_back({slot.from, change, has_more(slot.room, before)});
            before = slot.room;
        }
    }
    std::ranges::sort(changes, {}, &Slot::from);
    Amounts sum;
    slots_.push_back({outlook.from(), {}, true});
    for (const Slot& change : changes) {
        sum.cores += change.free.cores;
        sum.gpus += change.free.gpus;
        if (slots_.back().from < change.from) slots_.push_back({change.from, {}, false});
        slots_.back().free = sum;
        slots_.back().grows |= change.grows;
    }
}

std::size_t Supply::at(Instant moment) const {
    const auto behind = std::ranges::upper_bound(slots_, moment, {}, &Slot::from);
    return behind == slots_.begin() ? 0 : static_cast<std::size_t>(behind - slots_.begin()) - 1;
}

std::size_t Supply::split(Instant moment) {
    const std::size_t slot = at(moment);
    if (slots_[slot].from >= moment) return slot;
    slots_.insert(slots_.begin() + static_cast<std::ptrdiff_t>(slot) + 1,
                  {moment, slots_[slot].free, false});
    return slot + 1;
}

void Supply::take(Instant from, Instant until, Amounts amounts) {
    if (until <= std::max(from, slots_.front().from)) return;
    const std::size_t first = split(from), end = split(until);
    slots_[end].grows = true;
    for (std::size_t slot = first; slot < end; ++slot) {
        slots_[slot].free.cores -= amounts.cores;
        slots_[slot].free.gpus -= amounts.gpus;
    }
}

std::optional<Instant> Supply::first_with(const Amounts& need, Instant from, Seconds length) const {
    std::size_t slot = at(from);
    while (slot < slots_.size()) {
        const Instant start = std::max(from, slots_[slot].from), end = start + length;
        std::size_t ahead = slot;
        const auto inside = [&] {
            return ahead < slots_.size() && (ahead == slot || slots_[ahead].from < end);
        };
        while (inside() && slots_[ahead].free.covers(need)) ++ahead;
        if (!inside()) return start;
        slot = ahead + 1;
        while (slot < slots_.size() && !slots_[slot].grows) ++slot;
    }
    return std::nullopt;
}

std::optional<Instant> Supply::next_growth(Instant behind) const {
    for (std::size_t slot = at(behind); slot < slots_.size(); ++slot) {
        if (slots_[slot].grows && slots_[slot].from > behind) return slots_[slot].from;
    }
    return std::nullopt;
}

}  // namespace switchyard::core::sched
