// node.cpp: the words for a node's state. They are derived from a few facts each time they are
// asked for.
#include "model/node.hpp"

#include "base/assert.hpp"

namespace switchyard::model {
namespace {

std::uint32_t cpu_count(const Node& node) {
    if (node.config.cpus != 0) return node.config.cpus;
    return node.facts ? node.facts->cpus : 0;
}

bool is_future(const Node& node) {
    return node.config.start == NodeConfig::Start::Future && !node.facts;
}

// What the jobs on it make of it, whatever was decided about it. Those that only wait to be cleared
// away do not count: a node with nothing else is idle, and completing.
NodeState state_by_jobs(const Node& node) {
    if (node.running_jobs == 0) return NodeState::Idle;
    if (node.exclusive || node.used_cpus >= cpu_count(node)) return NodeState::Allocated;
    return NodeState::Mixed;
}

struct Words {
    std::string_view longer;
    std::string_view shorter;
};

Words words_of(const Node& node) {
    switch (state_of(node)) {
        case NodeState::Unknown:
            return {"unknown", "unk"};
        case NodeState::Down:
            return {"down", "down"};
        case NodeState::Idle:
            return {"idle", "idle"};
        case NodeState::Allocated:
            // Some of its jobs go, others stay.
            if (node.completing_jobs > 0) return {"allocated+", "alloc+"};
            return {"allocated", "alloc"};
        case NodeState::Mixed:
            return {"mixed", "mix"};
        case NodeState::Draining:
            return {"draining", "drng"};
        case NodeState::Drained:
            return {"drained", "drain"};
        case NodeState::Completing:
            return {"completing", "comp"};
        case NodeState::Future:
            return {"future", "futr"};
        case NodeState::Planned:
            return {"planned", "plnd"};
        case NodeState::Reserved:
            return {"reserved", "resv"};
        case NodeState::Maint:
            return {"maint", "maint"};
    }
    return {"unknown", "unk"};
}

bool is_rebooting(const Node& node) { return node.reboot && node.reboot->issued; }

std::string with_mark(std::string_view word, const Node& node) {
    // With jobs on it the node is what they make of it; without, the reboot is all there is to say.
    const bool at_work = !node.down && node.running_jobs > 0;
    if (node.reboot && !at_work) return is_rebooting(node) ? "reboot^" : "reboot";
    std::string out(word);
    if (node.reboot) {
        if (out.ends_with('+')) out.pop_back();
        return out + (is_rebooting(node) ? '^' : '@');
    }
    if (!node.responding && !is_future(node)) out += '*';
    return out;
}

}  // namespace

NodeState state_of(const Node& node) {
    if (is_future(node)) return NodeState::Future;
    const bool busy = node.running_jobs > 0 || node.completing_jobs > 0;
    if (node.drain) return busy ? NodeState::Draining : NodeState::Drained;
    if (node.down) return NodeState::Down;
    if (node.running_jobs == 0 && node.completing_jobs > 0) return NodeState::Completing;
    const NodeState state = state_by_jobs(node);
    if (state == NodeState::Idle && node.maint) return NodeState::Maint;
    if (state == NodeState::Idle && !node.reservation.empty()) return NodeState::Reserved;
    return state;
}

std::string long_name(const Node& node) { return with_mark(words_of(node).longer, node); }
std::string short_name(const Node& node) { return with_mark(words_of(node).shorter, node); }

std::string full_state(const Node& node) {
    std::string out;
    if (is_future(node)) return "FUTURE";
    if (node.down) {
        out = "DOWN";
    } else {
        switch (state_by_jobs(node)) {
            case NodeState::Idle:
                out = "IDLE";
                break;
            case NodeState::Allocated:
                out = "ALLOCATED";
                break;
            default:
                out = "MIXED";
                break;
        }
    }
    if (node.completing_jobs > 0) out += "+COMPLETING";
    if (node.drain) out += "+DRAIN";
    if (node.maint) out += "+MAINTENANCE";
    if (node.reboot) out += is_rebooting(node) ? "+REBOOT_ISSUED" : "+REBOOT_REQUESTED";
    if (!node.responding) out += "+NOT_RESPONDING";
    if (!node.reservation.empty()) out += "+RESERVED";
    return out;
}

bool accepts_jobs(const Node& node) {
    return node.responding && !node.down && !node.drain && !is_rebooting(node) && !is_future(node);
}

}  // namespace switchyard::model
