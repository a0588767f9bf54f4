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

std::optional<Admission> Windows::admit(NodeIndex node, WindowOwner owner, Instant from,
                                        Instant until) const {
    const auto& all = nodes_[node];
    const WindowRights rights = rights_of(owner);
    Admission admission{.until = until};
    if (all.empty()) return rights.confined ? std::nullopt : std::optional(admission);
    if (rights.confined) {
        const auto mine = std::ranges::find_if(all, [&](const Window& window) {
            return window.owner == owner && window.from <= from && from < window.until;
        });
        if (mine == all.end()) return std::nullopt;
        admission.until = std::min(until, mine->until);
        admission.only = mine->cores;
    }
    if (rights.comes_first) return admission;
    for (const Window& window : all) {
        if (window.owner == owner || !keeps_out(window, from, admission.until)) continue;
        if (window.cores.empty()) return std::nullopt;
        admission.barred.insert(window.cores);
    }
    return admission;
}

std::optional<Admission> Windows::admit_home(NodeIndex node, WindowOwner owner) const {
    if (!rights_of(owner).confined) return Admission{};
    const auto mine = std::ranges::find(nodes_[node], owner, &Window::owner);
    if (mine == nodes_[node].end()) return std::nullopt;
    return Admission{.only = mine->cores};
}

bool Windows::has_cores_of_its_own(NodeIndex node, WindowOwner owner) const {
    return rights_of(owner).confined &&
           std::ranges::any_of(nodes_[node], [&](const Window& window) {
               return window.owner == owner && !window.cores.empty();
           });
}

bool Windows::keep_apart(NodeIndex node, WindowOwner a, WindowOwner b) const {
    if (a == b || rights_of(a).comes_first || rights_of(b).comes_first) return false;
    return has_cores_of_its_own(node, a) || has_cores_of_its_own(node, b);
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
            // Whose cores it does without from the start, does not drive it out later.
            const bool beside = !window.cores.empty() && window.from < from + limit;
            if (!beside) until = std::min(until, std::max(from, window.from - limit));
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
