// backfill_places.cpp: see backfill_places.hpp.

#include "core/cluster/planning/backfill_places.hpp"

#include <algorithm>

#include "core/sched/fit.hpp"

namespace switchyard::core {

sched::Reserved reserved_for(const sched::NodePool& pool, const sched::Demand& demand,
                             Seconds limit, sched::QueueKey key, const sched::Planned& planned,
                             const sched::Pick& pick) {
    sched::Reserved reserved;
    reserved.key = key;
    reserved.job = key.job;
    reserved.from = planned.start;
    reserved.until = planned.start + limit;
    // In a reservation it stays no longer than that.
    if (const auto end =
            pool.windows().admit(pick.node, planned.owner, reserved.from, reserved.until))
        reserved.until = end->until;
    reserved.room = sched::planned_room(pool, demand, pick);
    reserved.whole = demand.shape.whole_nodes;
    reserved.owner = planned.owner;
    return reserved;
}

// Whether the nodes can still be as it was foreseen.
bool still_holds(const World& world, sched::QueueKey key, const sched::Planned& planned,
                 const sched::Demand& demand, Seconds limit, sched::Outlook& beside) {
    if (planned.start <= world.now) return false;
    const sched::View view{.start = planned.start,
                           .end = planned.start + limit,
                           .key = key,
                           .future = true,
                           .outlook = &beside,
                           .owner = planned.owner};
    return std::ranges::all_of(planned.picks, [&](const sched::Pick& pick) {
        const sched::NodeEntry& node = world.pool.node(pick.node);
        const auto room = sched::room_in(world.pool, pick.node, view);
        if (!room || !sched::is_candidate(node, pick.node, demand)) return false;
        const sched::Fit fit = sched::fit(node, *room, demand, world.pool.unit());
        bool enough = fit.tasks >= pick.tasks;
        for (std::size_t kind = 0; kind < pick.gpus.size(); ++kind)
            enough &= fit.gpus[kind] >= pick.gpus[kind];
        return enough;
    });
}

// What people see of it.
void estimate_start(World& world, JobId job, const sched::Planned& planned) {
    auto& pending = std::get<model::Pending>(world.jobs.at(job).phase);
    // Behind a job without a limit the start is a figure of speech; people are not told it.
    if (planned.start >= world.now + sched::kForever / 2) return;
    pending.planned_start = planned.start;
    pending.planned_nodes.clear();
    for (const sched::Pick& pick : planned.picks)
        pending.planned_nodes.push_back(world.pool.node(pick.node).name);
}

}  // namespace switchyard::core
