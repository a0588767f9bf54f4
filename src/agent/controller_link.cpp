#include "agent/controller_link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "os/files.hpp"
#include "wire/cluster_key.hpp"
#include "wire/proto/node.pb.h"

namespace switchyard::agent {
namespace {

constexpr Millis kPauseMin{20};
constexpr Millis kPauseMaxLocal{300};
constexpr Millis kPauseMaxRemote{5000};

// Agents that lost their controller together should not all come back in the same instant.
Millis with_jitter(Millis pause) {
    std::minstd_rand random(std::random_device{}());
    return pause / 2 +
           Millis{std::uniform_int_distribution<std::int64_t>(0, pause.count() / 2)(random)};
}

}  // namespace

ControllerLink::ControllerLink(io::Loop& loop, const config::Config& config, const os::Log& log,
                               Handlers handlers)
    : loop_(loop), config_(config), log_(log), handlers_(std::move(handlers)) {}

wire::Channel::Handlers ControllerLink::channel_handlers() {
    wire::Channel::Handlers handlers;
    handlers.on_frame = [this](std::string_view frame) { on_frame(frame); };
    handlers.on_close = [this](const Error& why) { on_close(why); };
    handlers.on_ready = [this] { on_ready(); };
    return handlers;
}

// The controller's own host has a socket for agents; from elsewhere its hosts are tried in turn.
void ControllerLink::connect() {
    local_ = os::exists(config_.controller_agent_socket());
    if (local_) {
        channel_ = wire::Channel::connect_unix(loop_, config_.controller_agent_socket(),
                                               wire::kAgentToController, channel_handlers());
        return;
    }
    if (config_.controllers.empty()) return retry("the configuration names no SlurmctldHost");
    auto key = wire::load_cluster_key(config_.key_file, config_.cluster_name);
    if (!key) return retry(key.error().message);
    const config::ControllerHost& host =
        config_.controllers[next_host_++ % config_.controllers.size()];
    channel_ = wire::Channel::connect_tls(loop_, host.address.empty() ? host.host : host.address,
                                          config_.controller_port, wire::kAgentToController,
                                          *std::move(key), channel_handlers());
}

void ControllerLink::reconnect() {
    channel_.reset();
    if (std::exchange(registered_, false)) handlers_.lost();
    pause_ = Millis{0};
    connect();
}

void ControllerLink::register_again() {
    if (registered_) on_ready();
}

void ControllerLink::retry(const std::string& why) {
    if (why != last_error_) log_.info(fmt::format("no controller: {}; trying on", why));
    last_error_ = why;
    pause_ = std::clamp(pause_ * 2, kPauseMin, local_ ? kPauseMaxLocal : kPauseMaxRemote);
    retry_timer_ = loop_.after(with_jitter(pause_), [this] { connect(); });
}

void ControllerLink::on_ready() {
    wire::AgentToController message;
    handlers_.fill_registration(message);
    channel_->send(message.SerializeAsString());
}

void ControllerLink::on_frame(std::string_view frame) {
    wire::ControllerToAgent message;
    if (!message.ParseFromArray(frame.data(), static_cast<int>(frame.size()))) return;
    if (!message.has_registered()) {
        if (registered_) handlers_.message(message);
        return;
    }
    if (!message.registered().accepted()) {
        channel_.reset();
        pause_ = kPauseMaxRemote;
        return retry(fmt::format("registration refused: {}", message.registered().error()));
    }
    registered_ = true;
    pause_ = Millis{0};
    last_error_.clear();
    log_.info("registered with the controller");
    handlers_.registered(message.registered());
}

void ControllerLink::on_close(const Error& why) {
    channel_.reset();
    if (std::exchange(registered_, false)) handlers_.lost();
    retry(why.message);
}

void ControllerLink::send(const wire::AgentToController& message) {
    if (registered_) channel_->send(message.SerializeAsString());
}

void ControllerLink::on_drained(std::function<void()> callback) {
    if (channel_) channel_->on_drained(std::move(callback));
}

}  // namespace switchyard::agent
