// describe.cpp: what administrators say of a node, and when it comes back.

#include <algorithm>

#include "core/cluster/nodes/nodes.hpp"

namespace switchyard::core {

// Of some lists there is one entry for all nodes, or one for each. What is active must be
// available.
Status Nodes::check(const model::NodeUpdate& update, const std::vector<NodeIndex>& named) const {
    for (const auto* list :
         {&update.instance_ids, &update.instance_types, &update.addresses, &update.host_names}) {
        if (*list && (*list)->size() > 1 && (*list)->size() != named.size())
            return fail(Errc::InvalidNodeName);
    }
    if (!update.features && !update.active_features) return {};
    for (const NodeIndex index : named) {
        const model::NodeConfig& config = world_.nodes[index].config;
        const auto& available = update.features ? *update.features : config.features;
        const auto& active = update.active_features ? *update.active_features : config.active();
        const auto is_available = [&](const std::string& name) {
            return std::ranges::find(available, name) != available.end();
        };
        if (!std::ranges::all_of(active, is_available)) return fail(Errc::ActiveNotAvailable);
    }
    return {};
}

bool Nodes::describe(NodeIndex index, std::size_t place, const model::NodeUpdate& update) {
    model::Node& node = world_.nodes[index];
    const auto take = [&](const std::optional<std::vector<std::string>>& list, std::string& to) {
        if (!list) return;
        to = list->empty() ? std::string() : (*list)[list->size() == 1 ? 0 : place];
    };
    if (update.comment) node.comment = *update.comment;
    if (update.extra) node.extra = *update.extra;
    take(update.instance_ids, node.instance_id);
    take(update.instance_types, node.instance_type);
    take(update.addresses, node.config.address);
    take(update.host_names, node.config.host_name);
    if (update.features || update.active_features) {
        if (update.features) node.config.features = *update.features;
        node.config.active_features = update.active_features;
        world_.pool.redescribe(index, node);
        world_.agenda.nodes().redescribed = true;
    }
    const bool reorders = update.weight && node.config.weight != *update.weight;
    if (reorders) node.config.weight = *update.weight;
    return reorders;
}

// Whoever takes a node away may say when it comes back; any other change of its state ends that.
void Nodes::plan_resumption(NodeIndex index, const model::NodeUpdate& update) {
    using Verb = model::NodeVerb;
    model::Node& node = world_.nodes[index];
    const bool leaves = update.verb == Verb::Drain || update.verb == Verb::Down;
    if (update.resume_after && leaves) {
        node.resume_at.reset();
        if (*update.resume_after >= Seconds{0}) node.resume_at = world_.now + *update.resume_after;
    } else if (update.verb == Verb::Resume || update.verb == Verb::Idle ||
               update.verb == Verb::Undrain) {
        node.resume_at.reset();
    }
    world_.timers.set({TimerKey::Kind::NodeResume, index}, node.resume_at);
}

}  // namespace switchyard::core
