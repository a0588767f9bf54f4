// trigger_events.cpp: what happens to jobs and nodes, as triggers see it.

#include <algorithm>

#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {
namespace {

NodeGlance glance_at(const model::Node& node, const NodeGlance& before, Instant now) {
    NodeGlance glance;
    glance.down = node.down;
    const model::NodeState state = model::state_of(node);
    glance.drained = state == model::NodeState::Drained;
    glance.draining = state == model::NodeState::Draining;
    if (state == model::NodeState::Idle && node.responding)
        glance.idle_since = before.idle_since.value_or(node.last_busy.value_or(now));
    return glance;
}

}  // namespace

bool Cluster::Impl::concerns(const model::Trigger& trigger, const std::string& node) const {
    if (trigger.resource == model::TriggerResource::Controller) return false;
    if (trigger.resource == model::TriggerResource::Job) {
        const Job* job = find_job(trigger.job);
        const model::Allocation* allocation =
            job != nullptr && !model::is_finished(*job) ? model::allocation_of(*job) : nullptr;
        return allocation != nullptr && allocation->find(node) != nullptr;
    }
    return trigger.nodes.empty() || std::ranges::find(trigger.nodes, node) != trigger.nodes.end();
}

void Cluster::Impl::node_event(NodeIndex index, model::TriggerType type) {
    const std::string& name = nodes_[index].config.name;
    for (const auto& [id, trigger] : triggers_.all) {
        if (trigger.type == type && !trigger.fired && concerns(trigger, name))
            triggers_.happened[id].insert(name);
    }
}

void Cluster::Impl::cluster_event(model::TriggerType type, const std::string& argument) {
    for (const auto& [id, trigger] : triggers_.all) {
        if (trigger.type == type && !trigger.fired) triggers_.happened[id].insert(argument);
    }
}

// Compares with the last look. Called for every change of a node while there are triggers.
void Cluster::Impl::look_at_node(NodeIndex index) {
    const model::Node& node = nodes_[index];
    const NodeGlance before = node_sides_[index].glance;
    const NodeGlance now = glance_at(node, before, now_);
    node_sides_[index].glance = now;
    using Type = model::TriggerType;
    if (now.down && !before.down) node_event(index, Type::Down);
    if (before.down && !now.down) node_event(index, Type::Up);
    if (now.draining && !before.draining && !before.drained) node_event(index, Type::Draining);
    if (now.drained && !before.drained) node_event(index, Type::Drained);
    if (now.idle_since == before.idle_since) return;
    for (const auto& [id, trigger] : triggers_.all) {
        if (trigger.type != Type::Idle || !concerns(trigger, node.config.name)) continue;
        if (!now.idle_since) triggers_.idle_told[id].erase(node.config.name);
        retime_trigger(trigger);
    }
}

// The first trigger is set: from now on changes count.
void Cluster::Impl::look_at_all_nodes() {
    for (NodeIndex i = 0; i < nodes_.size(); ++i)
        node_sides_[i].glance = glance_at(nodes_[i], {}, now_);
}

void Cluster::Impl::resume_triggers() {
    look_at_all_nodes();
    for (const auto& [id, trigger] : triggers_.all) retime_trigger(trigger);
    cluster_event(model::TriggerType::ControllerResumed, "primary_slurmctld_resumed_operation");
}

// The job is over: those who waited for that are run, and what else was set on it is moot.
void Cluster::Impl::trigger_job_end(JobId job) {
    std::vector<std::uint32_t> moot;
    for (const auto& [id, trigger] : triggers_.all) {
        if (trigger.resource != model::TriggerResource::Job || trigger.job != job) continue;
        if (trigger.type == model::TriggerType::Fini) {
            triggers_.happened[id].insert(std::to_string(job.value));
        } else if (!trigger.fired) {
            moot.push_back(id);
        }
    }
    for (const std::uint32_t id : moot) {
        if (!triggers_.happened.contains(id)) drop_trigger(id);
    }
}

std::vector<std::string> Cluster::Impl::idle_nodes(const model::Trigger& trigger) const {
    std::vector<std::string> names;
    const auto told = triggers_.idle_told.find(trigger.id);
    for (NodeIndex i = 0; i < nodes_.size(); ++i) {
        const auto& since = node_sides_[i].glance.idle_since;
        const std::string& name = nodes_[i].config.name;
        if (!since || *since + trigger.offset > now_ || !concerns(trigger, name)) continue;
        if (told != triggers_.idle_told.end() && told->second.contains(name)) continue;
        names.push_back(name);
    }
    return names;
}

// When a trigger is to be looked at for time's sake; none: only events matter to it.
std::optional<Instant> Cluster::Impl::trigger_due(const model::Trigger& trigger) const {
    if (trigger.fired) return trigger.fired->due;
    std::optional<Instant> next;
    if (trigger.type == model::TriggerType::Time) {
        const Job* job = find_job(trigger.job);
        const auto* run = job != nullptr ? std::get_if<model::Running>(&job->phase) : nullptr;
        if (run != nullptr && run->ends_by) next = *run->ends_by + trigger.offset;
    } else if (trigger.type == model::TriggerType::Idle) {
        const auto told = triggers_.idle_told.find(trigger.id);
        for (NodeIndex i = 0; i < nodes_.size(); ++i) {
            const auto& since = node_sides_[i].glance.idle_since;
            const std::string& name = nodes_[i].config.name;
            if (!since || !concerns(trigger, name)) continue;
            if (told != triggers_.idle_told.end() && told->second.contains(name)) continue;
            if (!next || *since + trigger.offset < *next) next = *since + trigger.offset;
        }
    }
    return next;
}

void Cluster::Impl::retime_trigger(const model::Trigger& trigger) {
    timers_.set({TimerKey::Kind::Trigger, trigger.id}, trigger_due(trigger));
}

void Cluster::Impl::retime_triggers(JobId job) {
    for (const auto& [id, trigger] : triggers_.all) {
        if (trigger.type == model::TriggerType::Time && trigger.job == job) retime_trigger(trigger);
    }
}

}  // namespace switchyard::core
