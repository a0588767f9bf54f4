// holdings.hpp: who holds what of which node: the scheduler's pool and the sums shown of each node,
// kept in step.
#pragma once

#include <string>

#include "core/cluster/cluster.hpp"
#include "core/cluster/world.hpp"

namespace switchyard::core {

class Planning;

class Holdings {
  public:
    Holdings(World& world, Planning& planning, Cluster::Impl& cluster)
        : world_(world), planning_(planning), cluster_(cluster) {}

    // All that a job holds: its allocation, or what of it is not clean yet.
    void claim(const Job& job);
    void release_on(const Job& job, const std::string& node);
    // It holds its nodes in another way after `change`; they are not idle meanwhile.
    template <class Change>
    void hold_anew(Job& job, Change change);
    void set_until(const Job& job);
    Instant held_until(const Job& job) const;
    // Opens or closes a node to new jobs, as its state demands.
    void refresh_node(NodeIndex node);

    // In between nodes are not yet what their jobs make of them, and nobody looks at them.
    void begin_rebuild() { rebuilding_ = true; }
    void end_rebuild();

  private:
    void claim_on(const Job& job, const model::NodeGrant& grant);
    void tell(NodeIndex node);

    World& world_;
    Planning& planning_;
    Cluster::Impl& cluster_;
    bool rebuilding_ = false;
};

template <class Change>
void Holdings::hold_anew(Job& job, Change change) {
    const model::Allocation allocation = *model::allocation_of(job);
    rebuilding_ = true;
    for (const model::NodeGrant& grant : allocation.nodes) release_on(job, grant.node);
    change();
    for (const model::NodeGrant& grant : allocation.nodes) claim_on(job, grant);
    rebuilding_ = false;
    for (const model::NodeGrant& grant : allocation.nodes) {
        if (const auto node = world_.node_index(grant.node)) tell(*node);
    }
}

}  // namespace switchyard::core
