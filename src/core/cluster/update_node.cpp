// update_node.cpp: `scontrol update node`: drained, resumed, taken down, with a reason.

#include <algorithm>

#include "core/cluster/check_texts.hpp"
#include "core/cluster/check_values.hpp"
#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {

void Cluster::Impl::resume_timer(NodeIndex index) {
    model::Node& node = nodes_[index];
    if (!node.resume_at) return;
    node.resume_at.reset();
    model::NodeUpdate update;
    update.verb = model::NodeVerb::Resume;
    set_node_state(index, update, "slurm");
    touch_node(index);
    machines_.refresh(index);
    triggers_.node_event(index, model::TriggerType::Resume);
}

void Cluster::Impl::on(const event::UpdateNode& event) {
    if (!rights_of(event.caller).may_administer()) return refuse(event.token, Errc::InvalidUserId);
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
    if (const Status fine = machines_.check(update, named); !fine)
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
        reorder |= machines_.describe(index, place, update);
        set_node_state(index, update, by);
        machines_.plan_resumption(index, update);
        touch_node(index);
        machines_.refresh(index);
        if (update.verb == Verb::Fail) triggers_.node_event(index, model::TriggerType::Fail);
        if (update.verb == Verb::Resume) triggers_.node_event(index, model::TriggerType::Resume);
    }
    if (update.verb != Verb::None)
        triggers_.cluster_event(model::TriggerType::Reconfig, "reconfig");
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
            machines_.cancel_reboot(index);
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
            if (!node.responding) machines_.wait_for(index);
            break;
        case Verb::Down:
            node_down(index, reason, by);
            break;
    }
}

}  // namespace switchyard::core
