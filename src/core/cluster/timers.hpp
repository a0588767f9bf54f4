// timers.hpp: what is due when. At most one timer for each thing; setting it again moves it.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/time.hpp"

namespace switchyard::core {

struct TimerKey {
    enum class Kind : std::uint8_t {
        Job,
        Node,
        Owner,
        StepDoubt,
        Reboot,
        Trigger,
        Reservation,
        NodeResume,
        Begun,
        Restore
    };
    Kind kind;
    std::uint32_t id;
    auto operator<=>(const TimerKey&) const = default;
};

constexpr std::string_view timer_name(TimerKey::Kind kind) {
    switch (kind) {
        case TimerKey::Kind::Job:
            return "job";
        case TimerKey::Kind::Node:
            return "node";
        case TimerKey::Kind::Owner:
            return "owner";
        case TimerKey::Kind::StepDoubt:
            return "step doubt";
        case TimerKey::Kind::Reboot:
            return "reboot";
        case TimerKey::Kind::Trigger:
            return "trigger";
        case TimerKey::Kind::Reservation:
            return "reservation";
        case TimerKey::Kind::NodeResume:
            return "node resume";
        case TimerKey::Kind::Begun:
            return "begun scripts";
        case TimerKey::Kind::Restore:
            return "restore";
    }
    return "unknown";
}

class Timers {
  public:
    void set(TimerKey key, std::optional<Instant> at) {
        if (const auto found = by_key_.find(key); found != by_key_.end()) {
            if (at && found->second == *at) return;
            by_time_.erase({found->second, key});
            by_key_.erase(found);
        }
        if (!at) return;
        by_key_.emplace(key, *at);
        by_time_.emplace(*at, key);
    }
    std::optional<Instant> next() const {
        if (by_time_.empty()) return std::nullopt;
        return by_time_.begin()->first;
    }
    bool is_due(TimerKey key, Instant now) const {
        const auto found = by_key_.find(key);
        return found != by_key_.end() && found->second <= now;
    }
    // The next one due by `now`, taken out.
    std::optional<TimerKey> take_due(Instant now) {
        if (by_time_.empty() || by_time_.begin()->first > now) return std::nullopt;
        const TimerKey key = by_time_.begin()->second;
        by_time_.erase(by_time_.begin());
        by_key_.erase(key);
        return key;
    }
    void clear() {
        by_key_.clear();
        by_time_.clear();
    }

  private:
    std::map<TimerKey, Instant> by_key_;
    std::set<std::pair<Instant, TimerKey>> by_time_;
};

}  // namespace switchyard::core
