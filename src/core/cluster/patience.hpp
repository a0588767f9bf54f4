// patience.hpp: how long something is let come again at once before it is left alone for a while,
// longer each time. A timer that is due again at once, time after time, or passes that ask for
// another and change nothing, are errors of the core; they must not keep it from everybody else.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include "base/time.hpp"
#include "core/cluster/timers.hpp"

namespace switchyard::core {

// A timer may be due again at once so often in one Tick; and so many passes in a row may ask for
// another and yet change nothing.
inline constexpr std::uint32_t kTurnsPerTimerMax = 8;
inline constexpr std::uint32_t kIdlePassesMax = 10000;
// How long it is left alone at first, and at most.
inline constexpr Seconds kStallRest{5};
inline constexpr Seconds kStallRestMax{3600};

inline Seconds rest_after(std::uint32_t stalls) {
    return std::min(kStallRestMax, kStallRest * (1u << std::min(stalls, 12u)));
}

class TimerPatience {
  public:
    void begin_tick() { again_.clear(); }
    // It was looked at. How long it is to be left alone; none: not at all.
    std::optional<Seconds> looked_at(TimerKey key, bool due_again) {
        if (!due_again) {
            if (!stalls_.empty() && !again_.contains(key)) stalls_.erase(key);
            return std::nullopt;
        }
        if (++again_[key] < kTurnsPerTimerMax) return std::nullopt;
        again_.erase(key);
        return rest_after(stalls_[key]++);
    }

  private:
    std::map<TimerKey, std::uint32_t> again_;   // In this Tick.
    std::map<TimerKey, std::uint32_t> stalls_;  // In a row.
};

class PassPatience {
  public:
    // A pass is over; `idle`: it changed nothing, and asks for another at once.
    std::optional<Seconds> passed(bool idle) {
        if (!idle) {
            idle_ = stalls_ = 0;
            return std::nullopt;
        }
        if (++idle_ < kIdlePassesMax) return std::nullopt;
        idle_ = 0;
        return rest_after(stalls_++);
    }

  private:
    std::uint32_t idle_ = 0, stalls_ = 0;
};

}  // namespace switchyard::core
