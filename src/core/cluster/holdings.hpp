// holdings.hpp: who holds what of which node: the scheduler's pool and the sums shown of each node,
// kept in step.
#pragma once

#include <string>

#include "core/cluster/licenses.hpp"
#include "core/cluster/nodes/nodes.hpp"
#include "core/cluster/reservations/calendar.hpp"
#include "core/cluster/transition.hpp"
#include "core/cluster/world.hpp"

namespace switchyard::core {

class Planning;

class Holdings {
  public:
    Holdings(World& world, Planning& planning, Nodes& nodes, Licenses& licenses, Calendar& calendar)
        : world_(world),
          planning_(planning),
          nodes_(nodes),
          licenses_(licenses),
          calendar_(calendar) {}

    void observe(const Transition& transition);
    // All that a job holds: its allocation, or what of it is not clean yet.
    void claim(const Job& job);
    void release_on(const Job& job, const std::string& node);
    // It holds its nodes in another way after `change`; they are not idle meanwhile.
    template <class Change>
    void hold_anew(Job& job, Change change);
    void set_until(const Job& job);
    Instant held_until(const Job& job) const;

  private:
    void claim_on(const Job& job, const model::NodeGrant& grant);

    World& world_;
    Planning& planning_;
    Nodes& nodes_;
    Licenses& licenses_;
    Calendar& calendar_;
};

template <class Change>
void Holdings::hold_anew(Job& job, Change change) {
    const model::Allocation allocation = *model::allocation_of(job);
    nodes_.pause();
    for (const model::NodeGrant& grant : allocation.nodes) release_on(job, grant.node);
    change();
    for (const model::NodeGrant& grant : allocation.nodes) claim_on(job, grant);
    nodes_.resume();
    for (const model::NodeGrant& grant : allocation.nodes) {
        if (const auto node = world_.node_index(grant.node)) nodes_.changed(*node);
    }
}

}  // namespace switchyard::core
