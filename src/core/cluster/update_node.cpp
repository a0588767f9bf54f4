// update_node.cpp: `scontrol update node`: drained, resumed, taken down, with a reason.

#include <algorithm>

#include "core/cluster/check_texts.hpp"
#include "core/cluster/check_values.hpp"
#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {

// Of some lists there is one entry for all nodes, or one for each. What is active must be
// available.
Status Cluster::Impl::check_node_update(const model::NodeUpdate& update,
                                        const std::vector<NodeIndex>& named) const {
    for (const auto* list :
         {&update.instance_ids, &update.instance_types, &update.addresses, &update.host_names}) {
        if (*list && (*list)->size() > 1 && (*list)->size() != named.size())
            return fail(Errc::InvalidNodeName);
    }
    if (!update.features && !update.active_features) return {};
    for (const NodeIndex index : named) {
        const model::NodeConfig& config = nodes_[index].config;
        const auto& available = update.features ? *update.features : config.features;
        const auto& active = update.active_features ? *update.active_features : config.active();
        const auto is_available = [&](const std::string& name) {
            return std::ranges::find(available, name) != available.end();
        };
        if (!std::ranges::all_of(active, is_available)) return fail(Errc::ActiveNotAvailable);
    }
    return {};
}

// What is only said of it. `place`: which of the named nodes it is.
void Cluster::Impl::describe_node(NodeIndex index, std::size_t place,
                                  const model::NodeUpdate& update) {
    model::Node& node = nodes_[index];
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
}

// Whoever takes a node away may say when it comes back; any other change of its state ends that.
void Cluster::Impl::plan_resumption(NodeIndex index, const model::NodeUpdate& update) {
    using Verb = model::NodeVerb;
    model::Node& node = nodes_[index];
    const bool leaves = update.verb == Verb::Drain || update.verb == Verb::Down;
    if (update.resume_after && leaves) {
        node.resume_at.reset();
        if (*update.resume_after >= Seconds{0}) node.resume_at = now_ + *update.resume_after;
    } else if (update.verb == Verb::Resume || update.verb == Verb::Idle ||
               update.verb == Verb::Undrain) {
        node.resume_at.reset();
    }
    timers_.set({TimerKey::Kind::NodeResume, index}, node.resume_at);
}

void Cluster::Impl::resume_timer(NodeIndex index) {
    model::Node& node = nodes_[index];
    if (!node.resume_at) return;
    node.resume_at.reset();
    model::NodeUpdate update;
    update.verb = model::NodeVerb::Resume;
    set_node_state(index, update, "slurm");
    touch_node(index);
    refresh_node(index);
    node_event(index, model::TriggerType::Resume);
}

void Cluster::Impl::on(const event::UpdateNode& event) {
    if (!is_operator(event.caller)) return refuse(event.token, Errc::InvalidUserId);
    const model::NodeUpdate& update = event.update;
    Status right = check_texts(update);
    if (right) right = check_values(update);
    if (!right) return reply(event.token, reply::Failed{right.error(), {}});
    std::vector<NodeIndex> named;
    for (const std::string& name : update.nodes) {
        const auto index = node_index(name);
        if (!index) return refuse(event.token, Errc::InvalidNodeName);
        named.push_back(*index);
    }
    using Verb = model::NodeVerb;
    const bool needs_reason =
        update.verb == Verb::Drain || update.verb == Verb::Down || update.verb == Verb::Fail;
    for (const NodeIndex index : named) {
        if (needs_reason && !update.reason && !nodes_[index].mark) {
            return reply(
                event.token,
                reply::Failed{
                    {Errc::InvalidArgument,
                     "You must specify a reason when DOWNING or DRAINING a node. Request denied"},
                    {}});
        }
    }
    if (const Status fine = check_node_update(update, named); !fine)
        return refuse(event.token, fine.error().code);
    const auto rebooting = [&](NodeIndex i) {
        return nodes_[i].reboot && nodes_[i].reboot->issued;
    };
    if (update.verb == Verb::CancelReboot && std::ranges::any_of(named, rebooting))
        return refuse(event.token, Errc::RebootInProgress);
    const std::string by =
        event.caller_name.empty() ? std::to_string(event.caller.uid) : event.caller_name;
    bool reorder = false;
    for (std::size_t place = 0; place < named.size(); ++place) {
        const NodeIndex index = named[place];
        model::Node& node = nodes_[index];
        describe_node(index, place, update);
        if (update.weight) {
            reorder |= node.config.weight != *update.weight;
            node.config.weight = *update.weight;
        }
        if (update.features || update.active_features) {
            if (update.features) node.config.features = *update.features;
            node.config.active_features = update.active_features;
            pool_.redescribe(index, node);
            planning_.feasibility.usable_nodes_changed();
        }
        set_node_state(index, update, by);
        plan_resumption(index, update);
        touch_node(index);
        refresh_node(index);
        if (update.verb == Verb::Fail) node_event(index, model::TriggerType::Fail);
        if (update.verb == Verb::Resume) node_event(index, model::TriggerType::Resume);
    }
    if (update.verb != Verb::None) cluster_event(model::TriggerType::Reconfig, "reconfig");
    if (reorder) rebuild();
    reply(event.token, reply::Done{{}, static_cast<std::uint32_t>(named.size()), {}});
}

void Cluster::Impl::set_node_state(NodeIndex index, const model::NodeUpdate& update,
                                   const std::string& by) {
    using Verb = model::NodeVerb;
    model::Node& node = nodes_[index];
    const std::string reason = update.reason.value_or(node.mark ? node.mark->reason : "");
    switch (update.verb) {
        case Verb::CancelReboot:
            cancel_reboot(node);
            break;
        case Verb::None:
            if (update.reason && (node.down || node.drain))
                node.mark = model::NodeMark{reason, by, now_};
            break;
        case Verb::Drain:
        case Verb::Fail:
            node.drain = true;
            node.mark = model::NodeMark{reason, by, now_};
            break;
        case Verb::Undrain:
            node.drain = false;
            if (!node.down) node.mark.reset();
            break;
        case Verb::Resume:
        case Verb::Idle:
            node.drain = node.down = false;
            node.mark.reset();
            if (!node.responding) {
                node_sides_[index].silent_since = now_;
                timers_.set({TimerKey::Kind::Node, index}, now_ + settings_.node_timeout);
            }
            break;
        case Verb::Down:
            node_down(index, reason, by);
            break;
    }
}

}  // namespace switchyard::core
