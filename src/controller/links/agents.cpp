#include "controller/links/agents.hpp"

#include <unistd.h>

#include "base/limits.hpp"
#include "controller/links/agent_link.hpp"
#include "controller/links/node_facts.hpp"
#include "wire/codec.hpp"
#include "wire/proto/node.pb.h"

namespace switchyard::controller {
namespace {

core::StepReport to_report(const wire::StepReport& message) {
    return {.key = wire::decode(message.key()),
            .exit = {.code = message.exit().code(), .signal = message.exit().signal()},
            .timed_out = message.timed_out(),
            .out_of_memory = message.out_of_memory(),
            .lost = message.lost(),
            .launch_error = message.launch_error(),
            .job_clean = message.job_clean(),
            .begun_before = message.begun_before(),
            .usage = wire::decode(message.usage())};
}

core::event::NodeBegan to_began(const std::string& node, const wire::BegunScripts& message) {
    core::event::NodeBegan began{.node = node, .scripts = {}};
    for (const wire::BegunScript& each : message.scripts()) {
        core::event::NodeBegan::Script script{
            .job = JobId{each.job()}, .attempt = Attempt{each.attempt()}, .exit = {}};
        if (each.has_exit())
            script.exit = model::ExitStatus{each.exit().code(), each.exit().signal()};
        if (each.array_job() != 0) script.array = JobId{each.array_job()};
        script.element = each.array_task();
        if (each.submitted() != 0) script.submitted = Instant{Millis{each.submitted()}};
        began.scripts.push_back(script);
    }
    return began;
}

core::event::NodeLoad to_load(const std::string& node, const wire::Load& message) {
    core::event::NodeLoad load{.node = node,
                               .cpu_load = message.cpu_load(),
                               .free_memory = model::MiB{message.free_memory()},
                               .problem = message.problem(),
                               .card_use = {}};
    for (const wire::CardUse& use : message.card_use()) load.card_use.push_back(wire::decode(use));
    return load;
}

}  // namespace

Agents::Agents(io::Loop& loop, os::Log& log, Sessions& sessions, std::string cluster,
               Handlers handlers)
    : loop_(loop),
      log_(log),
      sessions_(sessions),
      cluster_(std::move(cluster)),
      handlers_(std::move(handlers)) {}
Agents::~Agents() = default;

wire::Channel::Handlers Agents::channel_handlers(std::uint64_t link) {
    return {.on_frame = [this, link](std::string_view frame) { on_frame(link, frame); },
            .on_close = [this, link](const Error& why) { close(link, why.message); },
            .on_ready =
                [this, link] {
                    if (const auto it = links_.find(link); it != links_.end())
                        it->second->opened = true;
                }};
}

Agents::Link& Agents::open(bool local) {
    auto link = std::make_unique<Link>();
    link->id = ++last_link_;
    link->local = local;
    return *links_.emplace(link->id, std::move(link)).first->second;
}

void Agents::accept_local(io::Fd socket) {
    Link& link = open(true);
    link.channel = wire::Channel::adopt(loop_, std::move(socket), wire::kControllerToAgent,
                                        channel_handlers(link.id));
    link.outlet.emplace(*link.channel);
    const auto peer = link.channel->peer();
    // The socket's mode says the same; this holds where the mode was changed by hand.
    if (!peer || (peer->uid != 0 && peer->uid != ::geteuid())) {
        refuse(link, "only root and the controller's own user may run an agent");
    }
}

void Agents::accept_remote(io::Fd socket, const wire::PresharedKey& key) {
    if (links_.size() >= limits::kConnectionsMax) {
        log_.error("too many connections of agents: one more is refused");
        return;
    }
    Link& link = open(false);
    link.channel = wire::Channel::adopt_tls_server(
        loop_, std::move(socket), wire::kControllerToAgent, key, channel_handlers(link.id));
    link.outlet.emplace(*link.channel);
}

void Agents::on_frame(std::uint64_t id, std::string_view frame) {
    const auto it = links_.find(id);
    if (it == links_.end()) return;
    Link& link = *it->second;
    wire::AgentToController message;
    if (!message.ParseFromArray(frame.data(), static_cast<int>(frame.size()))) {
        return close(id, "a message that cannot be read");
    }
    if (message.has_register_()) return on_register(link, message.register_());
    if (!link.registered) return close(id, "a message before it registered");
    on_message(link, message);
}

void Agents::on_register(Link& link, const wire::Register& message) {
    if (message.protocol() != wire::kProtocol) {
        return refuse(link, fmt::format("agent of {} speaks protocol {}, the controller {}: {}",
                                        message.node(), message.protocol(), wire::kProtocol,
                                        errc_text(Errc::ProtocolVersion)));
    }
    if (!message.relay_only() && !handlers_.is_configured(message.node())) {
        return refuse(
            link, fmt::format("node {} is not in the controller's configuration", message.node()));
    }
    if (const Status fits = check_registration(message); !fits)
        return refuse(link, fits.error().message);
    auto facts = wire::decode(message.facts());
    if (!facts) return refuse(link, facts.error().message);
    if (const Status possible = check_facts(*facts); !possible)
        return refuse(link, possible.error().message);

    link.registered = true;
    link.node = message.node();
    link.relay_only = message.relay_only();
    wire::ControllerToAgent answer;
    answer.mutable_registered()->set_cluster(cluster_);
    answer.mutable_registered()->set_accepted(true);
    answer.mutable_registered()->set_ask_begun(!link.relay_only && handlers_.asks_begun(link.node));
    link.channel->send(answer.SerializeAsString());
    if (link.relay_only) return log_.info("login node {} connected", link.node);

    const std::string address = link.local ? std::string() : link.channel->peer_address();
    Place& place = places_[link.node];
    const std::uint64_t before = place.link;
    place = {.link = link.id, .local = link.local, .address = address};
    // A restarted agent is sometimes here before its old connection is known to be dead.
    if (before != 0 && before != link.id) close(before, "its agent connected again");
    // Kept in the node's record: after our restart a job may start before all its nodes are back.
    facts->address = link.local ? "127.0.0.1" : address;
    log_.info("Node {} now responding", link.node);

    core::event::NodeUp up{.node = link.node, .facts = *std::move(facts), .steps = {}};
    for (const wire::StepKey& key : message.steps()) up.steps.push_back(wire::decode(key));
    handlers_.on_event(std::move(up));
}

void Agents::on_message(Link& link, const wire::AgentToController& message) {
    using Body = wire::AgentToController::BodyCase;
    switch (message.body_case()) {
        case Body::kRelayOpen:
        case Body::kRelayData:
        case Body::kRelayClose:
            return on_relay(link, message);
        default:
            break;
    }
    if (link.relay_only) return;
    switch (message.body_case()) {
        case Body::kLoad:
            if (!check_load(message.load())) return;
            return handlers_.on_event(to_load(link.node, message.load()));
        case Body::kGpuIdle:
            return handlers_.on_event(core::event::GpuIdle{
                .node = link.node,
                .job = JobId{message.gpu_idle().job()},
                .attempt = Attempt{message.gpu_idle().attempt()},
                .since = message.gpu_idle().has_since()
                             ? std::optional(Instant{Millis{message.gpu_idle().since()}})
                             : std::nullopt});
        case Body::kStepEnded:
            return handlers_.on_event(core::event::StepEnded{
                .node = link.node, .report = to_report(message.step_ended())});
        case Body::kBegunScripts:
            return handlers_.on_event(to_began(link.node, message.begun_scripts()));
        case Body::kStepStarted:
            return handlers_.on_event(core::event::StepStarted{
                .node = link.node, .key = wire::decode(message.step_started().key())});
        case Body::kJobClean:
            return handlers_.on_event(
                core::event::JobClean{.node = link.node,
                                      .job = JobId{message.job_clean().job()},
                                      .attempt = Attempt{message.job_clean().attempt()}});
        case Body::kScriptFailed: {
            const wire::ScriptFailed& failed = message.script_failed();
            log_.error("{} of job {} failed on node {}: {}", failed.epilog() ? "Epilog" : "Prolog",
                       failed.job(), link.node, failed.why());
            return handlers_.on_event(
                core::event::ScriptFailed{.node = link.node,
                                          .job = JobId{failed.job()},
                                          .attempt = Attempt{failed.attempt()},
                                          .epilog = failed.epilog()});
        }
        case Body::kPids:
            return handlers_.on_pids(link.node, message.pids());
        default:
            return;  // From a newer agent.
    }
}

void Agents::refuse(Link& link, const std::string& why) {
    log_.error("agent refused: {}", why);
    wire::ControllerToAgent answer;
    answer.mutable_registered()->set_cluster(cluster_);
    answer.mutable_registered()->set_error(why);
    link.channel->send(answer.SerializeAsString());
    close(link.id, why);
}

void Agents::close(std::uint64_t id, const std::string& why) {
    const auto it = links_.find(id);
    if (it == links_.end()) return;
    const std::unique_ptr<Link> link = std::move(it->second);
    links_.erase(it);
    for (const auto& [number, session] : link->relayed) sessions_.close(session, true);
    if (!link->opened && !link->local) note_stranger(*link, why);
    if (link->channel) link->channel->close();
    if (!link->registered || link->relay_only) {
        return log_.verbose("connection of {} closed: {}", link->name(), why);
    }
    Place& place = places_[link->node];
    if (place.link != id) return;  // Its next connection has taken over.
    place.link = 0;
    log_.info("Node {} not responding: {}", link->node, why);
    handlers_.on_event(core::event::NodeLost{.node = link->node});
}

// Whoever tries keys, or has an old one, is seen; but cannot fill the log.
void Agents::note_stranger(const Link& link, const std::string& why) {
    const auto left_out = stranger_lines_.admit(loop_.now());
    if (!left_out) return;
    const std::string others =
        *left_out > 0 ? fmt::format(" ({} more since the last of these lines)", *left_out) : "";
    log_.error("TLS handshake with {} failed: {}{}", link.channel->peer_address(), why, others);
}

bool Agents::send(const std::string& node, std::string_view frame) {
    const auto place = places_.find(node);
    if (place == places_.end() || place->second.link == 0) return false;
    links_.at(place->second.link)->channel->send(frame);
    return true;
}

void Agents::send_to_all(std::string_view frame) {
    for (const auto& [id, link] : links_) {
        if (link->registered) link->channel->send(frame);
    }
}

void Agents::close_all() {
    for (auto& [name, place] : places_) place.link = 0;
    for (const auto& [id, link] : links_) link->channel->close();
}

bool Agents::is_connected(const std::string& node) const {
    const auto it = places_.find(node);
    return it != places_.end() && it->second.link != 0;
}
bool Agents::is_local(const std::string& node) const {
    const auto it = places_.find(node);
    return it != places_.end() && it->second.local;
}
std::string Agents::address_of(const std::string& node) const {
    const auto it = places_.find(node);
    return it != places_.end() ? it->second.address : std::string();
}

}  // namespace switchyard::controller
