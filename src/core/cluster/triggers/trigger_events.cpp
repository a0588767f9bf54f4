// trigger_events.cpp: what happens to jobs and nodes, as triggers see it.

#include <algorithm>

#include "core/cluster/triggers/triggers.hpp"

namespace switchyard::core {

Triggers::Glance Triggers::glance_at(const model::Node& node, const Glance& before, Instant now) {
    Glance glance;
    glance.down = node.down;
    const model::NodeState state = model::state_of(node);
    glance.drained = state == model::NodeState::Drained;
    glance.draining = state == model::NodeState::Draining;
    if (state == model::NodeState::Idle && node.responding)
        glance.idle_since = before.idle_since.value_or(node.last_busy.value_or(now));
    return glance;
}

bool Triggers::concerns(const model::Trigger& trigger, const std::string& node) const {
    if (trigger.resource == model::TriggerResource::Controller) return false;
    if (trigger.resource == model::TriggerResource::Job) {
        const Job* job = world_.find_job(trigger.job);
        const model::Allocation* allocation =
            job != nullptr && !model::is_finished(*job) ? model::allocation_of(*job) : nullptr;
        return allocation != nullptr && allocation->find(node) != nullptr;
    }
    return trigger.nodes.empty() || std::ranges::find(trigger.nodes, node) != trigger.nodes.end();
}

void Triggers::node_event(NodeIndex index, model::TriggerType type) {
    const std::string& name = world_.nodes[index].config.name;
    for (const auto& [id, trigger] : all_) {
        if (trigger.type == type && !trigger.fired && concerns(trigger, name))
            happened_[id].insert(name);
    }
}

void Triggers::cluster_event(model::TriggerType type, const std::string& argument) {
    for (const auto& [id, trigger] : all_) {
        if (trigger.type == type && !trigger.fired) happened_[id].insert(argument);
    }
}

// Compares with the last look. Called for every change of a node while there are triggers.
void Triggers::node_changed(NodeIndex index) {
    const model::Node& node = world_.nodes[index];
    Glance& known = glances_[node.config.name];
    const Glance before = known;
    const Glance now = known = glance_at(node, before, world_.now);
    using Type = model::TriggerType;
    if (now.down && !before.down) node_event(index, Type::Down);
    if (before.down && !now.down) node_event(index, Type::Up);
    if (now.draining && !before.draining && !before.drained) node_event(index, Type::Draining);
    if (now.drained && !before.drained) node_event(index, Type::Drained);
    if (now.idle_since == before.idle_since) return;
    for (const auto& [id, trigger] : all_) {
        if (trigger.type != Type::Idle || !concerns(trigger, node.config.name)) continue;
        if (!now.idle_since) idle_told_[id].erase(node.config.name);
        retime(trigger);
    }
}

// The first trigger is set: from now on changes count.
void Triggers::look_at_all_nodes() {
    glances_.clear();
    for (const model::Node& node : world_.nodes)
        glances_[node.config.name] = glance_at(node, {}, world_.now);
}

// What is known of those that are still there stays.
void Triggers::renew_nodes() {
    std::erase_if(glances_, [&](const auto& entry) { return !world_.node_index(entry.first); });
}

void Triggers::resume() {
    look_at_all_nodes();
    for (const auto& [id, trigger] : all_) retime(trigger);
    cluster_event(model::TriggerType::ControllerResumed, "primary_slurmctld_resumed_operation");
}

void Triggers::observe(const Transition& transition) {
    if (transition.cause == Cause::Ended) job_ended(transition.job.id);
}

// The job is over: those who waited for that are run, and what else was set on it is moot.
void Triggers::job_ended(JobId job) {
    std::vector<std::uint32_t> moot;
    for (const auto& [id, trigger] : all_) {
        if (trigger.resource != model::TriggerResource::Job || trigger.job != job) continue;
        if (trigger.type == model::TriggerType::Fini) {
            happened_[id].insert(std::to_string(job.value));
        } else if (!trigger.fired) {
            moot.push_back(id);
        }
    }
    for (const std::uint32_t id : moot) {
        if (!happened_.contains(id)) drop(id);
    }
}

std::optional<Instant> Triggers::idle_since(const std::string& node) const {
    const auto found = glances_.find(node);
    return found == glances_.end() ? std::nullopt : found->second.idle_since;
}

bool Triggers::was_told(const model::Trigger& trigger, const std::string& node) const {
    const auto told = idle_told_.find(trigger.id);
    return told != idle_told_.end() && told->second.contains(node);
}

std::vector<std::string> Triggers::idle_nodes(const model::Trigger& trigger) const {
    std::vector<std::string> names;
    for (const model::Node& node : world_.nodes) {
        const std::string& name = node.config.name;
        const auto since = idle_since(name);
        if (!since || *since + trigger.offset > world_.now || !concerns(trigger, name)) continue;
        if (!was_told(trigger, name)) names.push_back(name);
    }
    return names;
}

// When a trigger is to be looked at for time's sake; none: only events matter to it.
std::optional<Instant> Triggers::due(const model::Trigger& trigger) const {
    if (trigger.fired) return trigger.fired->due;
    std::optional<Instant> next;
    if (trigger.type == model::TriggerType::Time) {
        const Job* job = world_.find_job(trigger.job);
        const auto* run = job != nullptr ? std::get_if<model::Running>(&job->phase) : nullptr;
        if (run != nullptr && run->ends_by) next = *run->ends_by + trigger.offset;
    } else if (trigger.type == model::TriggerType::Idle) {
        for (const model::Node& node : world_.nodes) {
            const auto since = idle_since(node.config.name);
            if (!since || !concerns(trigger, node.config.name)) continue;
            if (was_told(trigger, node.config.name)) continue;
            if (!next || *since + trigger.offset < *next) next = *since + trigger.offset;
        }
    }
    return next;
}

void Triggers::retime(const model::Trigger& trigger) {
    world_.timers.set({TimerKey::Kind::Trigger, trigger.id}, due(trigger));
}

void Triggers::retime(JobId job) {
    for (const auto& [id, trigger] : all_) {
        if (trigger.type == model::TriggerType::Time && trigger.job == job) retime(trigger);
    }
}

}  // namespace switchyard::core
