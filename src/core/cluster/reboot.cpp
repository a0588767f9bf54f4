// reboot.cpp: `scontrol reboot`: a node is told to reboot once nothing runs on it, and is back when
// its agent registers with a later boot time.

#include <algorithm>

#include "core/cluster/check_texts.hpp"
#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {
namespace {

constexpr const char* kController = "slurm";

// Reasons tell how far it came: "kernel update : reboot issued".
void append_reason(model::Node& node, const std::string& what, Instant now) {
    if (!node.mark) node.mark = model::NodeMark{{}, kController, now};
    node.mark->reason += (node.mark->reason.empty() ? "" : " : ") + what;
    node.mark->at = now;
}

}  // namespace

void Cluster::Impl::on(const event::Reboot& event) {
    if (!is_operator(event.caller)) return refuse(event.token, Errc::AccessDenied);
    const auto failed = [&](Errc code, const char* text) {
        reply(event.token, reply::Failed{{code, text}, {}});
    };
    if (const Status fine = check_comment(event.reason.value_or(""), "reason"); !fine)
        return failed(fine.error().code, fine.error().message.c_str());
    if (!settings_.can_reboot) return failed(Errc::Unsupported, "RebootProgram isn't defined");
    std::vector<NodeIndex> named;
    for (const std::string& name : event.nodes) {
        const auto index = node_index(name);
        if (!index) return refuse(event.token, Errc::InvalidNodeName);
        named.push_back(*index);
    }
    if (event.nodes.empty()) {
        for (NodeIndex i = 0; i < nodes_.size(); ++i) {
            if (model::state_of(nodes_[i]) != model::NodeState::Future) named.push_back(i);
        }
    }
    const bool all_under_way =
        std::ranges::all_of(named, [&](NodeIndex i) { return nodes_[i].reboot.has_value(); });
    if (all_under_way) return refuse(event.token, Errc::RebootInProgress);
    const std::string by =
        event.caller_name.empty() ? std::to_string(event.caller.uid) : event.caller_name;
    for (const NodeIndex index : named) {
        model::Node& node = nodes_[index];
        if (node.reboot) continue;
        node.reboot = model::NodeReboot{.asap = event.asap,
                                        .after = event.after,
                                        .issued = {},
                                        .drained = event.asap && !node.drain};
        if (event.reason || !node.mark) {
            const std::string usual = event.asap ? "Reboot ASAP" : "reboot requested";
            node.mark = model::NodeMark{event.reason.value_or(usual), by, now_};
        }
        if (event.asap) node.drain = true;
        touch_node(index);
        refresh_node(index);
    }
    reply(event.token, reply::Done{{}, static_cast<std::uint32_t>(named.size()), {}});
}

// One that has not begun.
void Cluster::Impl::cancel_reboot(model::Node& node) {
    if (!node.reboot) return;
    if (node.reboot->drained) node.drain = false;
    if (!node.drain && !node.down) node.mark.reset();
    node.reboot.reset();
}

// What depends on a node's jobs and state. Cheap where nothing does.
void Cluster::Impl::node_changed(NodeIndex index) {
    if (nodes_[index].reboot) reboot_if_idle(index);
    if (!triggers_.all.empty()) look_at_node(index);
}

void Cluster::Impl::reboot_if_idle(NodeIndex index) {
    model::Node& node = nodes_[index];
    const bool idle = node.running_jobs == 0 && node.completing_jobs == 0;
    if (node.reboot->issued || !idle || !node.responding || !node_sides_[index].ghosts.empty())
        return;
    node.reboot->issued = now_;
    append_reason(node, "reboot issued", now_);
    touch_node(index);
    emit(effect::RebootNode{node.config.name});
    timers_.set({TimerKey::Kind::Reboot, index}, now_ + settings_.resume_timeout);
    refresh_node(index);
}

// Its agent is here. Either the machine was booted since, or it has not begun.
void Cluster::Impl::reboot_done(NodeIndex index, Instant booted) {
    model::Node& node = nodes_[index];
    if (!node.reboot || !node.reboot->issued) return;
    const model::NodeReboot reboot = *node.reboot;
    if (booted <= *reboot.issued) {
        // The agent that should have done it did not hear of it; a new one came instead of a boot.
        if (node.facts && node.facts->agent_started < *reboot.issued)
            emit(effect::RebootNode{node.config.name});
        return;
    }
    using After = model::NodeReboot::After;
    node.reboot.reset();
    timers_.set({TimerKey::Kind::Reboot, index}, std::nullopt);
    if (reboot.drained || reboot.after != After::Keep) node.drain = false;
    if (reboot.after == After::Resume) node.down = false;
    if (reboot.after == After::Down) {
        node.down = true;
        append_reason(node, "reboot complete", now_);
    } else if (!node.drain && !node.down) {
        node.mark.reset();
    }
    touch_node(index);
}

void Cluster::Impl::reboot_timer(NodeIndex index) {
    model::Node& node = nodes_[index];
    if (!node.reboot || !node.reboot->issued) return;
    if (const Instant end = *node.reboot->issued + settings_.resume_timeout; end > now_)
        return timers_.set({TimerKey::Kind::Reboot, index}, end);
    if (node.reboot->drained) node.drain = false;
    node.reboot.reset();
    append_reason(node, "reboot timed out", now_);
    node_down(index, node.mark->reason, node.mark->by);
}

void Cluster::Impl::resume_reboots() {
    for (NodeIndex i = 0; i < nodes_.size(); ++i) {
        const auto& reboot = nodes_[i].reboot;
        if (reboot && reboot->issued)
            timers_.set({TimerKey::Kind::Reboot, i}, *reboot->issued + settings_.resume_timeout);
    }
}

}  // namespace switchyard::core
