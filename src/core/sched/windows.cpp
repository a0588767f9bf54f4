// windows.cpp: see windows.hpp.

#include "core/sched/windows.hpp"

#include <algorithm>

namespace switchyard::core::sched {
namespace {

bool overlaps(const Window& window, Instant from, Instant until) {
    return window.from < until && window.until > from;
}

// A window of others keeps a job out unless it stays no longer than a guest may.
bool keeps_out(const Window& window, Instant from, Instant until) {
    return overlaps(window, from, until) && until - from > window.guests;
}

}  // namespace

WindowRights Windows::rights_of(WindowOwner owner) const {
    if (owner == kNobody) return {.confined = false};
    const auto found = rights_.find(owner);
    return found == rights_.end() ? WindowRights{} : found->second;
}

void Windows::add(NodeIndex node, const Places& places, Window window) {
    for (const auto& [partition, place] : places) {
        moments_[partition].emplace(window.from, place);
        moments_[partition].emplace(window.until, place);
        ++moments_count_;
    }
    auto& all = nodes_[node];
    const auto at = std::ranges::upper_bound(all, window.from, {}, &Window::from);
    all.insert(at, window);
}

std::optional<Instant> Windows::admit(NodeIndex node, WindowOwner owner, Instant from,
                                      Instant until) const {
    const auto& all = nodes_[node];
    const WindowRights rights = rights_of(owner);
    if (all.empty()) return rights.confined ? std::nullopt : std::optional(until);
    if (rights.confined) {
        const auto mine = std::ranges::find_if(all, [&](const Window& window) {
            return window.owner == owner && window.from <= from && from < window.until;
        });
        if (mine == all.end()) return std::nullopt;
        until = std::min(until, mine->until);
    }
    if (rights.comes_first) return until;
    const bool kept_out = std::ranges::any_of(all, [&](const Window& window) {
        return window.owner != owner && keeps_out(window, from, until);
    });
    return kept_out ? std::nullopt : std::optional(until);
}

bool Windows::is_home(NodeIndex node, WindowOwner owner) const {
    return !rights_of(owner).confined ||
           std::ranges::find(nodes_[node], owner, &Window::owner) != nodes_[node].end();
}

Instant Windows::welcome_until(NodeIndex node, WindowOwner owner, Instant from,
                               Seconds limit) const {
    Instant until = Instant::max();
    const WindowRights rights = rights_of(owner);
    for (const Window& window : nodes_[node]) {
        if (window.owner == owner) {
            const bool mine = rights.confined && window.from <= from && from < window.until;
            if (mine) until = std::min(until, window.until - Millis{1});
        } else if (!rights.comes_first && window.until > from && limit > window.guests) {
            until = std::min(until, std::max(from, window.from - limit));
        }
    }
    return until;
}

bool Windows::is_maintained(NodeIndex node, WindowOwner owner, Instant from, Instant until) const {
    return std::ranges::any_of(nodes_[node], [&](const Window& window) {
        return window.maint && window.owner != owner && keeps_out(window, from, until);
    });
}

}  // namespace switchyard::core::sched
