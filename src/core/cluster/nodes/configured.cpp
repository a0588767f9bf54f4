// configured.cpp: nodes as the configuration and their records have them.

#include <algorithm>

#include "core/cluster/nodes/node_facts.hpp"
#include "core/cluster/nodes/nodes.hpp"

namespace switchyard::core {
namespace {

model::Node fresh_node(const model::NodeConfig& config, Instant now) {
    model::Node node;
    node.config = config;
    using Start = model::NodeConfig::Start;
    if (config.start == Start::Down) node.down = true;
    if (config.start == Start::Drain) node.drain = true;
    if (node.down || node.drain) {
        node.mark = model::NodeMark{
            config.reason.empty() ? "set in the configuration" : config.reason, "root", now};
    }
    return node;
}

// What people decided about a node, and what its agent said, outlives a restart; what the
// configuration says comes from the configuration.
void restore(model::Node& node, const model::Node& record) {
    node.facts = record.facts;
    if (node.facts) fill_from_facts(node.config, !node.config.gres.empty(), *node.facts);
    node.down = record.down;
    node.drain = record.drain;
    node.mark = record.mark;
    node.reboot = record.reboot;
    node.last_busy = record.last_busy;
    node.comment = record.comment;
    node.extra = record.extra;
    node.instance_id = record.instance_id;
    node.instance_type = record.instance_type;
    node.resume_at = record.resume_at;
}

}  // namespace

void Nodes::load(const std::vector<model::Node>& records) {
    for (const model::NodeConfig& config : world_.settings.nodes)
        world_.nodes.push_back(fresh_node(config, world_.now));
    for (const model::Node& record : records) {
        const auto same = [&](const model::Node& node) {
            return node.config.name == record.config.name;
        };
        const auto found = std::ranges::find_if(world_.nodes, same);
        if (found != world_.nodes.end()) restore(*found, record);
    }
    sides_.assign(world_.nodes.size(), {});
    for (NodeIndex i = 0; i < world_.nodes.size(); ++i) {
        sides_[i].silent_since = world_.now;
        set_timers(i);
    }
}

void Nodes::reconfigure() {
    std::vector<model::Node> nodes;
    std::vector<NodeSide> sides;
    for (const model::NodeConfig& config : world_.settings.nodes) {
        model::Node node = fresh_node(config, world_.now);
        NodeSide side;
        side.silent_since = world_.now;
        if (const auto old = world_.node_index(config.name)) {
            restore(node, world_.nodes[*old]);
            node.responding = world_.nodes[*old].responding;
            side = sides_[*old];
            side.retired = false;
        }
        nodes.push_back(std::move(node));
        sides.push_back(std::move(side));
    }
    // A node that is no longer configured stays until its jobs have left.
    for (NodeIndex i = 0; i < world_.nodes.size(); ++i) {
        const auto same = [&](const model::Node& node) {
            return node.config.name == world_.nodes[i].config.name;
        };
        if (std::ranges::any_of(nodes, same) || sides_[i].jobs.empty()) continue;
        nodes.push_back(world_.nodes[i]);
        sides.push_back(sides_[i]);
        sides.back().retired = true;
    }
    for (NodeIndex i = 0; i < world_.nodes.size(); ++i) {
        world_.timers.set({TimerKey::Kind::Node, i}, std::nullopt);
        world_.timers.set({TimerKey::Kind::NodeResume, i}, std::nullopt);
    }
    world_.nodes = std::move(nodes);
    sides_ = std::move(sides);
    for (NodeIndex i = 0; i < world_.nodes.size(); ++i) set_timers(i);
}

void Nodes::set_timers(NodeIndex index) {
    const model::Node& node = world_.nodes[index];
    if (sides_[index].silent_since) {
        world_.timers.set({TimerKey::Kind::Node, index},
                          *sides_[index].silent_since + world_.settings.node_timeout);
    }
    world_.timers.set({TimerKey::Kind::NodeResume, index}, node.resume_at);
    if (node.reboot && node.reboot->issued) {
        world_.timers.set({TimerKey::Kind::Reboot, index},
                          *node.reboot->issued + world_.settings.resume_timeout);
    }
}

std::set<JobId> Nodes::holders() const {
    std::set<JobId> holders;
    for (const NodeSide& side : sides_) holders.insert(side.jobs.begin(), side.jobs.end());
    return holders;
}

void Nodes::clear() {
    for (model::Node& node : world_.nodes) {
        node.used_cores = {};
        node.used_cpus = 0;
        node.used_memory = {};
        node.used_gres.clear();
        node.running_jobs = node.completing_jobs = 0;
        node.exclusive = false;
        node.partitions.clear();
    }
    for (NodeSide& side : sides_) side.jobs.clear();
}

}  // namespace switchyard::core
