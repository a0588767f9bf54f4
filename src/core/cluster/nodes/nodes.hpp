// nodes.hpp: what is known of each node beyond its record, and what follows from its state: whether
// it is open to new jobs, whether it may reboot now.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "core/cluster/triggers/triggers.hpp"
#include "core/cluster/world.hpp"
#include "model/node.hpp"
#include "model/update.hpp"

namespace switchyard::core {

// Who changes nodes without being asked by anybody.
inline constexpr const char* kController = "slurm";

struct NodeSide {
    std::set<JobId> jobs;  // Those that hold something here.
    std::optional<Instant> silent_since;
    // Runs that the node still has but we had given up: it takes no new job before they are gone.
    std::set<std::pair<JobId, Attempt>> ghosts;
    // The records are a backup, and the node has not said yet what it began since: nothing is
    // launched on it. What it listed when it registered waits for that.
    bool owes_journal = false;
    std::optional<std::vector<StepKey>> listed;
    bool retired = false;  // No longer configured; kept until its jobs have left.
};

class Nodes {
  public:
    Nodes(World& world, Triggers& triggers) : world_(world), triggers_(triggers) {}

    // --- configured.cpp: from the configuration and the records
    void load(const std::vector<model::Node>& records);
    void reconfigure();
    // Nobody holds anything.
    void clear();
    std::set<JobId> holders() const;

    NodeSide& side(NodeIndex node) { return sides_[node]; }
    const NodeSide& side(NodeIndex node) const { return sides_[node]; }
    const std::vector<NodeSide>& sides() const { return sides_; }

    // --- nodes.cpp
    // Opens or closes a node to new jobs, as its state demands.
    void refresh(NodeIndex node);
    // What depends on a node's jobs and state. Cheap where nothing does.
    void changed(NodeIndex node);
    void all_changed();
    // Between the two, nodes are not what their jobs make of them.
    void pause() { paused_ = true; }
    void resume() { paused_ = false; }
    void on(const event::NodeLoad& event);
    void adopt_facts(NodeIndex node, const model::NodeFacts& facts);
    void drain_for(NodeIndex node, const std::string& problem);
    // An agent is heard of again, or no more.
    void answers(NodeIndex node);
    void falls_silent(NodeIndex node);
    void wait_for(NodeIndex node);

    // --- reboot.cpp
    void on(const event::Reboot& event);
    void cancel_reboot(NodeIndex node);
    // Its agent is here. Either the machine was booted since, or it has not begun.
    void reboot_done(NodeIndex node, Instant booted);
    // True: it should be back by now, and is down for that.
    bool reboot_timed_out(NodeIndex node);

    // --- describe.cpp: what administrators say of a node
    Status check(const model::NodeUpdate& update, const std::vector<NodeIndex>& named) const;
    // True: the order of nodes is another one. `place`: which of the named nodes it is.
    bool describe(NodeIndex node, std::size_t place, const model::NodeUpdate& update);
    void plan_resumption(NodeIndex node, const model::NodeUpdate& update);

  private:
    void set_timers(NodeIndex node);
    void reboot_if_idle(NodeIndex node);

    World& world_;
    Triggers& triggers_;
    std::vector<NodeSide> sides_;
    bool paused_ = false;
};

}  // namespace switchyard::core
