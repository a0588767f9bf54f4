// reboot.cpp: `scontrol reboot`: a node is told to reboot once nothing runs on it, and is back when
// its agent registers with a later boot time.

#include <algorithm>

#include "core/cluster/check_texts.hpp"
#include "core/cluster/nodes/nodes.hpp"

namespace switchyard::core {
namespace {

// Reasons tell how far it came: "kernel update : reboot issued".
void append_reason(model::Node& node, const std::string& what, Instant now) {
    if (!node.mark) node.mark = model::NodeMark{{}, kController, now};
    node.mark->reason += (node.mark->reason.empty() ? "" : " : ") + what;
    node.mark->at = now;
}

}  // namespace

void Nodes::on(const event::Reboot& event) {
    if (!world_.rights_of(event.caller).may_administer())
        return world_.refuse(event.token, Errc::AccessDenied);
    const auto failed = [&](Errc code, const char* text) {
        world_.reply(event.token, reply::Failed{{code, text}, {}});
    };
    if (const Status fine = check_comment(event.reason.value_or(""), "reason"); !fine)
        return failed(fine.error().code, fine.error().message.c_str());
    if (!world_.settings.can_reboot)
        return failed(Errc::Unsupported, "RebootProgram isn't defined");
    std::vector<NodeIndex> named;
    for (const std::string& name : event.nodes) {
        const auto index = world_.node_index(name);
        if (!index) return world_.refuse(event.token, Errc::InvalidNodeName);
        named.push_back(*index);
    }
    if (event.nodes.empty()) {
        for (NodeIndex i = 0; i < world_.nodes.size(); ++i) {
            if (model::state_of(world_.nodes[i]) != model::NodeState::Future) named.push_back(i);
        }
    }
    const bool all_under_way =
        std::ranges::all_of(named, [&](NodeIndex i) { return world_.nodes[i].reboot.has_value(); });
    if (all_under_way) return world_.refuse(event.token, Errc::RebootInProgress);
    const std::string by =
        event.caller_name.empty() ? std::to_string(event.caller.uid) : event.caller_name;
    for (const NodeIndex index : named) {
        model::Node& node = world_.nodes[index];
        if (node.reboot) continue;
        node.reboot = model::NodeReboot{.asap = event.asap,
                                        .after = event.after,
                                        .issued = {},
                                        .drained = event.asap && !node.drain};
        if (event.reason || !node.mark) {
            const std::string usual = event.asap ? "Reboot ASAP" : "reboot requested";
            node.mark = model::NodeMark{event.reason.value_or(usual), by, world_.now};
        }
        if (event.asap) node.drain = true;
        world_.touch_node(index);
        refresh(index);
    }
    world_.reply(event.token, reply::Done{{}, static_cast<std::uint32_t>(named.size()), {}});
}

// One that has not begun.
void Nodes::cancel_reboot(NodeIndex index) {
    model::Node& node = world_.nodes[index];
    if (!node.reboot) return;
    if (node.reboot->drained) node.drain = false;
    if (!node.drain && !node.down) node.mark.reset();
    node.reboot.reset();
}

void Nodes::reboot_if_idle(NodeIndex index) {
    model::Node& node = world_.nodes[index];
    const bool idle = node.running_jobs == 0 && node.completing_jobs == 0;
    if (node.reboot->issued || !idle || !node.responding || !sides_[index].ghosts.empty()) return;
    node.reboot->issued = world_.now;
    append_reason(node, "reboot issued", world_.now);
    world_.touch_node(index);
    world_.emit(effect::RebootNode{node.config.name});
    world_.timers.set({TimerKey::Kind::Reboot, index}, world_.now + world_.settings.resume_timeout);
    refresh(index);
}

void Nodes::reboot_done(NodeIndex index, Instant booted) {
    model::Node& node = world_.nodes[index];
    if (!node.reboot || !node.reboot->issued) return;
    const model::NodeReboot reboot = *node.reboot;
    if (booted <= *reboot.issued) {
        // The agent that should have done it did not hear of it; a new one came instead of a boot.
        if (node.facts && node.facts->agent_started < *reboot.issued)
            world_.emit(effect::RebootNode{node.config.name});
        return;
    }
    using After = model::NodeReboot::After;
    node.reboot.reset();
    world_.timers.set({TimerKey::Kind::Reboot, index}, std::nullopt);
    if (reboot.drained || reboot.after != After::Keep) node.drain = false;
    if (reboot.after == After::Resume) node.down = false;
    if (reboot.after == After::Down) {
        node.down = true;
        append_reason(node, "reboot complete", world_.now);
    } else if (!node.drain && !node.down) {
        node.mark.reset();
    }
    world_.touch_node(index);
}

bool Nodes::reboot_timed_out(NodeIndex index) {
    model::Node& node = world_.nodes[index];
    if (!node.reboot || !node.reboot->issued) return false;
    if (const Instant end = *node.reboot->issued + world_.settings.resume_timeout;
        end > world_.now) {
        world_.timers.set({TimerKey::Kind::Reboot, index}, end);
        return false;
    }
    if (node.reboot->drained) node.drain = false;
    node.reboot.reset();
    append_reason(node, "reboot timed out", world_.now);
    return true;
}

}  // namespace switchyard::core
