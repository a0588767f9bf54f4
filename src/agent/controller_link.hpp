// controller_link.hpp: the agent's connection to the controller: dialled for ever, with growing
// pauses.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/time.hpp"
#include "config/config.hpp"
#include "io/loop.hpp"
#include "os/log.hpp"
#include "wire/channel.hpp"

namespace switchyard::wire {
class AgentToController;
class ControllerToAgent;
class Registered;
}  // namespace switchyard::wire

namespace switchyard::agent {

class ControllerLink {
  public:
    struct Handlers {
        std::function<void(wire::AgentToController& message)> fill_registration;
        std::function<void(const wire::Registered& answer)> registered;
        std::function<void(const wire::ControllerToAgent& message)> message;
        std::function<void()> lost;  // After it was registered.
    };
    ControllerLink(io::Loop& loop, const config::Config& config, const os::Log& log,
                   Handlers handlers);

    void connect();         // Now; again and again until it succeeds.
    void reconnect();       // Drops the present connection, if any, and registers anew.
    void register_again();  // Over the present connection, if any.
    bool is_registered() const { return registered_; }
    // Dropped while not registered: whoever sends tells again after registration.
    void send(const wire::AgentToController& message);
    std::size_t unsent_bytes() const { return channel_ ? channel_->unsent_bytes() : 0; }
    // Called once when all has left; never, if the connection is lost before.
    void on_drained(std::function<void()> callback);

  private:
    void retry(const std::string& why);
    void on_ready();
    void on_frame(std::string_view frame);
    void on_close(const Error& why);
    wire::Channel::Handlers channel_handlers();

    io::Loop& loop_;
    const config::Config& config_;
    const os::Log& log_;
    Handlers handlers_;
    std::unique_ptr<wire::Channel> channel_;
    io::Loop::Timer retry_timer_;
    Millis pause_{0};
    std::size_t next_host_ = 0;
    bool local_ = false, registered_ = false;
    std::string last_error_;  // Told once, not at every attempt.
};

}  // namespace switchyard::agent
