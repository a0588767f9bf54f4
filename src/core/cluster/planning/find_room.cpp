// find_room.cpp: see find_room.hpp.

#include "core/cluster/planning/find_room.hpp"

#include <algorithm>

namespace switchyard::core {

// The nodes it would prefer, if it can have them now; else any that will do. In the first of its
// reservations that has them.
std::optional<model::Allocation> find_room(const sched::NodePool& pool, const sched::Group& group,
                                           const sched::View& view, Try& tried) {
    const auto place = [&](const sched::Demand& demand) -> std::optional<model::Allocation> {
        sched::View inside = view;
        for (const sched::WindowOwner owner : sched::owners_of(demand.shape)) {
            inside.owner = tried.owner = owner;
            std::uint32_t found = 0;
            const auto picks = sched::place(pool, group.partition, demand, inside, &found);
            const std::uint32_t wanted = demand.shape.nodes_min;
            tried.no_room = !picks;
            tried.missing = !picks && wanted > found ? wanted - found : 1;
            if (!picks) continue;
            if (auto allocation = sched::make_allocation(pool, demand, *picks, inside))
                return allocation;
        }
        return std::nullopt;
    };
    if (!group.demand.preferred.empty()) {
        sched::Demand first = group.demand;
        first.constraint = first.preferred;
        if (auto allocation = place(first)) return allocation;
    }
    return place(group.demand);
}

// --time-min: the longest limit (to the minute) with which it can begin before a place that is kept
// for somebody else.
std::optional<model::Allocation> find_room_for_less(const sched::NodePool& pool,
                                                    const sched::Group& group, sched::View view,
                                                    std::optional<Minutes>& reduced,
                                                    sched::WindowOwner& owner) {
    const auto with_minutes = [&](std::int64_t minutes) {
        view.end = view.start + Minutes{minutes};
        Try tried;
        auto found = find_room(pool, group, view, tried);
        if (found) owner = tried.owner;
        return found;
    };
    std::int64_t good = std::max<std::int64_t>(1, (group.demand.shape.seconds_min + 59) / 60);
    std::int64_t bad = std::chrono::ceil<Minutes>(group.limit.value_or(sched::kForever)).count();
    if (good >= bad) return std::nullopt;
    auto allocation = with_minutes(good);
    while (allocation && bad - good > 1) {
        const std::int64_t middle = good + (bad - good) / 2;
        if (auto longer = with_minutes(middle)) {
            good = middle;
            allocation = std::move(longer);
        } else {
            bad = middle;
        }
    }
    if (allocation) reduced = Minutes{good};
    return allocation;
}

}  // namespace switchyard::core
