// node_line.hpp: the room of one node over time, beside the places that are kept on it.
//
// A line is a row of slots, each from its moment to that of the next. Holders leave when their
// limits end, and a kept place takes its amounts for its time.
// To see what is free for some hours costs a look at the slots of those hours.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/time.hpp"
#include "core/sched/backfill_reservations.hpp"
#include "core/sched/room.hpp"

namespace switchyard::core::sched {

struct NodeEntry;

// When a holder can be expected to leave that may stay until some moment. Who should have left
// already will soon; but the later it is, the less one can count on it.
inline Instant expected_end(Instant until, Instant now) {
    return until > now ? until : now + std::max<Millis>(Seconds{1}, now - until);
}

class NodeLine {
  public:
    struct Slot {
        Instant from{};
        Room room;
    };

    NodeLine() = default;
    // From a moment on, now or later, as it looks now.
    NodeLine(const NodeEntry& node, Instant now, Instant from);

    void take(const Reserved& reserved);

    // What is there all the time between two moments. Less than so many cores are of no interest,
    // nor is what else there would be beside them.
    Room least(Instant from, Instant until, std::uint32_t cores = 0) const;
    // The first moment, at or behind `from`, from which so many cores are there for so long. Only
    // `from` itself and moments at which a slot begins are considered.
    std::optional<Instant> first_with(std::uint32_t cores, Instant from, Seconds length) const;
    // The first slot that begins behind a moment.
    std::optional<Instant> next_slot(Instant behind) const;
    std::span<const Slot> slots() const { return slots_; }

  private:
    std::size_t at(Instant moment) const;
    std::size_t split(Instant moment);

    std::vector<Slot> slots_;  // The last one has no end.
};

}  // namespace switchyard::core::sched
