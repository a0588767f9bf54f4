// node_line.cpp: see node_line.hpp.

#include "core/sched/node_line.hpp"

#include <algorithm>
#include <utility>

#include "core/sched/fit.hpp"
#include "core/sched/node_pool.hpp"

namespace switchyard::core::sched {

NodeLine::NodeLine(const NodeEntry& node, Instant now, Instant from) {
    const auto leaves = [&](const Holding* holding) { return expected_end(holding->until, now); };
    std::vector<const Holding*> holders;
    for (const Holding& holding : node.holdings) holders.push_back(&holding);
    std::ranges::sort(holders, {}, [&](const Holding* holding) {
        return std::pair(leaves(holding), holding->job);
    });
    Room room = node.free;
    slots_.reserve(holders.size() + 3);
    slots_.push_back({from, room});
    for (const Holding* holding : holders) {
        add(room, holding->room);
        // What holders share is free only when all of them have left.
        if (--room.holders == 0) room = empty_room(node);
        if (slots_.back().from < leaves(holding)) slots_.push_back({leaves(holding), room});
        slots_.back().room = room;
    }
}

// The slot of a moment; the first one for those before it.
std::size_t NodeLine::at(Instant moment) const {
    const auto behind = std::ranges::upper_bound(slots_, moment, {}, &Slot::from);
    return behind == slots_.begin() ? 0 : static_cast<std::size_t>(behind - slots_.begin()) - 1;
}

std::size_t NodeLine::split(Instant moment) {
    const std::size_t slot = at(moment);
    if (slots_[slot].from >= moment) return slot;
    slots_.insert(slots_.begin() + static_cast<std::ptrdiff_t>(slot) + 1,
                  {moment, slots_[slot].room});
    return slot + 1;
}

void NodeLine::take(const Reserved& reserved) {
    if (reserved.until <= std::max(reserved.from, slots_.front().from)) return;
    const std::size_t first = split(reserved.from), end = split(reserved.until);
    for (std::size_t slot = first; slot < end; ++slot) {
        Room& room = slots_[slot].room;
        if (reserved.whole) room = Room{};
        subtract(room, reserved.room);
        ++room.holders;
    }
}

Room NodeLine::least(Instant from, Instant until, std::uint32_t cores) const {
    std::size_t slot = at(from);
    Room room = slots_[slot].room;
    while (room.cores >= cores && ++slot < slots_.size() && slots_[slot].from < until)
        keep_least(room, slots_[slot].room);
    return room;
}

std::optional<Instant> NodeLine::first_with(std::uint32_t cores, Instant from,
                                            Seconds length) const {
    std::size_t slot = at(from);
    while (slot < slots_.size()) {
        const Instant start = std::max(from, slots_[slot].from), end = start + length;
        std::size_t ahead = slot;
        while (ahead < slots_.size() && (ahead == slot || slots_[ahead].from < end) &&
               slots_[ahead].room.cores >= cores)
            ++ahead;
        const bool stopped = ahead < slots_.size() && (ahead == slot || slots_[ahead].from < end);
        if (!stopped) return start;
        slot = ahead + 1;
    }
    return std::nullopt;
}

std::optional<Instant> NodeLine::next_slot(Instant behind) const {
    const auto next = std::ranges::upper_bound(slots_, behind, {}, &Slot::from);
    if (next == slots_.end()) return std::nullopt;
    return next->from;
}

}  // namespace switchyard::core::sched
