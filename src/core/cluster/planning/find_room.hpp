// find_room.hpp: nodes that a job of a group could have now.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "core/sched/group.hpp"
#include "core/sched/node_pool.hpp"
#include "core/sched/placement.hpp"
#include "model/resources.hpp"

namespace switchyard::core {

// What came of it when the foremost job of a group was tried.
struct Try {
    bool started = false;  // Or it left the queue for another reason.
    bool no_room = false;
    std::uint32_t missing = 1;                  // Nodes.
    sched::WindowOwner owner = sched::kNobody;  // Where there was room.
};

std::optional<model::Allocation> find_room(const sched::NodePool& pool, const sched::Group& group,
                                           const sched::View& view, Try& tried);
std::optional<model::Allocation> find_room_for_less(const sched::NodePool& pool,
                                                    const sched::Group& group, sched::View view,
                                                    std::optional<Minutes>& reduced,
                                                    sched::WindowOwner& owner);

}  // namespace switchyard::core
