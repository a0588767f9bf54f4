// nodes.cpp: what follows from what agents say, and from the state of a node.

#include "core/cluster/nodes/nodes.hpp"

#include <algorithm>

#include "core/cluster/nodes/node_facts.hpp"

namespace switchyard::core {

void Nodes::answers(NodeIndex node) {
    world_.nodes[node].responding = true;
    sides_[node].silent_since.reset();
    world_.timers.set({TimerKey::Kind::Node, node}, std::nullopt);
}

void Nodes::falls_silent(NodeIndex node) {
    world_.nodes[node].responding = false;
    sides_[node].listed.reset();
    sides_[node].ghosts.clear();  // Its next registration lists them again.
    wait_for(node);
}

void Nodes::wait_for(NodeIndex node) {
    sides_[node].silent_since = world_.now;
    world_.timers.set({TimerKey::Kind::Node, node}, world_.now + world_.settings.node_timeout);
}

void Nodes::refresh(NodeIndex index) {
    const model::Node& node = world_.nodes[index];
    const NodeSide& side = sides_[index];
    const bool rebooting = node.reboot && node.reboot->issued;
    const bool usable = !node.down && !node.drain && !rebooting && !side.retired &&
                        node.config.start != model::NodeConfig::Start::Future;
    const bool open = usable && node.responding && side.ghosts.empty() && !side.owes_journal;
    const sched::NodeEntry& entry = world_.pool.node(index);
    const bool was_usable = entry.usable, was_open = entry.open;
    world_.pool.set_open(index, open, usable);
    if (usable != was_usable) world_.agenda.nodes().came_or_went = true;
    if (open && !was_open) world_.agenda.nodes().opened.push_back(index);
    changed(index);
}

void Nodes::changed(NodeIndex index) {
    if (paused_) return;
    if (world_.nodes[index].reboot) reboot_if_idle(index);
    if (!triggers_.empty()) triggers_.node_changed(index);
}

void Nodes::all_changed() {
    for (NodeIndex i = 0; i < world_.nodes.size(); ++i) changed(i);
}

void Nodes::adopt_facts(NodeIndex index, const model::NodeFacts& facts) {
    model::Node& node = world_.nodes[index];
    const model::NodeConfig before = node.config;
    // As a rule it stands where it is configured.
    auto said = world_.settings.nodes.begin() +
                std::min<std::ptrdiff_t>(index, std::ssize(world_.settings.nodes));
    if (said == world_.settings.nodes.end() || said->name != node.config.name)
        said = std::ranges::find(world_.settings.nodes, node.config.name, &model::NodeConfig::name);
    fill_from_facts(node.config, said != world_.settings.nodes.end() && !said->gres.empty(), facts);
    if (!same_machine(node.facts, facts)) world_.touch_node(index);
    node.facts = facts;
    drain_for(index, facts.problem.empty() ? shortfall(node.config, facts) : facts.problem);
    if (node.config == before) return;
    world_.pool.redescribe(index, node);
    world_.agenda.nodes().described.push_back(index);
    // Jobs that no partition seemed able to hold may have been waiting for this description.
    for (const auto& [id, job] : world_.jobs) {
        if (model::reason_of(job) == model::Reason::PartitionNodeLimit) world_.agenda.review(id);
    }
}

void Nodes::drain_for(NodeIndex index, const std::string& problem) {
    model::Node& node = world_.nodes[index];
    if (problem.empty() || node.drain) return;
    node.drain = true;
    node.mark = model::NodeMark{problem, kController, world_.now};
    world_.touch_node(index);
}

void Nodes::on(const event::NodeLoad& event) {
    const auto index = world_.node_index(event.node);
    if (!index || !world_.nodes[*index].facts) return;
    world_.nodes[*index].facts->cpu_load = event.cpu_load;
    world_.nodes[*index].facts->free_memory = event.free_memory;
    world_.nodes[*index].facts->card_use = event.card_use;
    // Told once: an administrator may resume the node in spite of it.
    if (world_.nodes[*index].facts->problem == event.problem) return;
    world_.nodes[*index].facts->problem = event.problem;
    world_.touch_node(*index);
    drain_for(*index, event.problem);
    refresh(*index);
}

}  // namespace switchyard::core
