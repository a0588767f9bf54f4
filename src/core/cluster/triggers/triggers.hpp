// triggers.hpp: `strigger`: programs that people want run when something happens to a node, a job
// or the controller (triggers.cpp), and what happens as the triggers see it (trigger_events.cpp).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/cluster/transition.hpp"
#include "core/cluster/world.hpp"
#include "model/trigger.hpp"

namespace switchyard::core {

class Triggers {
  public:
    explicit Triggers(World& world) : world_(world) {}

    void load(std::vector<model::Trigger> records, std::uint32_t last_id);
    // The controller is here (again).
    void resume();
    // Nodes are configured anew.
    void renew_nodes();

    void on(const event::SetTriggers& event);
    void on(const event::ClearTriggers& event);

    const std::map<std::uint32_t, model::Trigger>& all() const { return all_; }
    bool empty() const { return all_.empty(); }

    // What happens.
    void observe(const Transition& transition);
    void node_changed(NodeIndex node);
    void node_event(NodeIndex node, model::TriggerType type);
    void cluster_event(model::TriggerType type, const std::string& argument);
    // Its end has moved.
    void retime(JobId job);

    // What happened in this step: run at once, or when the offset has passed.
    void fire();
    void timer(std::uint32_t id);

  private:
    // A node as the triggers last saw it.
    struct Glance {
        bool down = false, drained = false, draining = false;
        std::optional<Instant> idle_since;
    };
    static Glance glance_at(const model::Node& node, const Glance& before, Instant now);

    void job_ended(JobId job);
    Status check(const model::Trigger& trigger, const Caller& caller) const;
    void add(model::Trigger trigger);
    void drop(std::uint32_t id);
    void run(model::Trigger& trigger, std::string argument);
    void look_at_all_nodes();
    void retime(const model::Trigger& trigger);
    std::optional<Instant> due(const model::Trigger& trigger) const;
    std::vector<std::string> idle_nodes(const model::Trigger& trigger) const;
    bool concerns(const model::Trigger& trigger, const std::string& node) const;
    std::optional<Instant> idle_since(const std::string& node) const;
    bool was_told(const model::Trigger& trigger, const std::string& node) const;

    World& world_;
    std::map<std::uint32_t, model::Trigger> all_;
    std::uint32_t last_id_ = 0;
    // What happened in this step of the core: nodes by trigger, so that many nodes that go down at
    // once are one run of the program.
    std::map<std::uint32_t, std::set<std::string>> happened_;
    // Idle nodes that a permanent trigger was already run for, until they have worked again.
    std::map<std::uint32_t, std::set<std::string>> idle_told_;
    std::map<std::string, Glance> glances_;  // By node; kept while there are any triggers.
};

}  // namespace switchyard::core
