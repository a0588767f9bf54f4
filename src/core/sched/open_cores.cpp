// open_cores.cpp: see open_cores.hpp.

#include "core/sched/open_cores.hpp"

#include <algorithm>
#include <vector>

#include "core/sched/node_line.hpp"

namespace switchyard::core::sched {
namespace {

// When this holder will have left, as the view sees it.
Instant leaves(const Holding& holding, const View& view) {
    return view.outlook != nullptr ? expected_end(holding.until, view.outlook->now())
                                   : holding.until;
}

// Of the allowed cores those that no holder has who is still there then.
std::uint32_t not_held(const NodeEntry& node, const View& view, const Admission& admission,
                       Instant at) {
    std::vector<bool> held(node.cores, false);
    for (const Holding& holding : node.holdings) {
        // Who is there now is there when it begins at once, late or not.
        if (leaves(holding, view) <= at && (view.future || at > view.start)) continue;
        for (const auto& interval : holding.grant.cores.intervals()) {
            for (std::uint32_t core = interval.first; core <= interval.last && core < node.cores;
                 ++core)
                held[core] = true;
        }
    }
    std::uint32_t count = 0;
    for (std::uint32_t core = 0; core < node.cores; ++core)
        count += !held[core] && admission.allows(core) ? 1 : 0;
    return count;
}

}  // namespace

std::optional<Admission> admission_in(const NodePool& pool, NodeIndex node, const View& view) {
    if (view.past_windows) return Admission{.until = view.end};
    return pool.windows().admit(node, view.owner, view.start, view.end);
}

void limit_to(Room& room, const NodeEntry& node, const Admission& admission) {
    std::uint32_t allowed = 0, shareable = 0;
    for (std::uint32_t core = 0; core < node.cores; ++core) {
        if (!admission.allows(core)) continue;
        ++allowed;
        if (!node.core_alone[core]) ++shareable;
    }
    room.cores = std::min(room.cores, allowed);
    room.cores_max = std::max(room.cores, shareable);
}

void limit_to_open(Room& room, const NodePool& pool, NodeIndex index, const View& view,
                   const Admission& admission) {
    const NodeEntry& node = pool.node(index);
    const BackfillReservations& plan =
        view.outlook != nullptr ? view.outlook->plan() : pool.reservations();
    std::vector<const Reserved*> ahead;
    for (const Reserved& reserved : plan.on(index)) {
        const bool meets = reserved.from < admission.until && reserved.until > view.start;
        if (meets && reserved.key < view.key &&
            !pool.windows().keep_apart(index, reserved.owner, view.owner))
            ahead.push_back(&reserved);
    }
    const auto open_at = [&](Instant at) {
        std::uint32_t cores = not_held(node, view, admission, at);
        for (const Reserved* reserved : ahead) {
            if (reserved->from > at || reserved->until <= at) continue;
            cores -= reserved->whole ? cores : std::min(cores, reserved->room.cores);
        }
        return cores;
    };
    // They are fewest at the start, or where a kept place begins.
    std::uint32_t least = open_at(view.start);
    for (const Reserved* reserved : ahead) {
        if (reserved->from > view.start) least = std::min(least, open_at(reserved->from));
    }
    room.cores = std::min(room.cores, least);
    limit_to(room, node, admission);
}

}  // namespace switchyard::core::sched
