// agents.hpp: the agents of the nodes. They dial us, over the agents' unix socket on this host or
// over TLS with the cluster key from another; either way only members of the cluster get here.
//
// An agent also carries commands typed on its host (relay.cpp): for those it vouches for the
// caller's uid.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/line_limit.hpp"
#include "controller/links/sessions.hpp"
#include "core/cluster/event.hpp"
#include "io/loop.hpp"
#include "os/log.hpp"
#include "wire/channel.hpp"

namespace switchyard::wire {
class AgentToController;
class ControllerToAgent;
class PidsAnswer;
class Register;
}  // namespace switchyard::wire

namespace switchyard::controller {

class Agents {
  public:
    struct Handlers {
        std::function<void(core::Event)> on_event;
        std::function<bool(const std::string& node)> is_configured;
        std::function<bool(const std::string& node)> asks_begun;
        std::function<void(const std::string& node, const wire::PidsAnswer&)> on_pids;
    };

    Agents(io::Loop& loop, os::Log& log, Sessions& sessions, std::string cluster,
           Handlers handlers);
    ~Agents();

    void accept_local(io::Fd socket);
    void accept_remote(io::Fd socket, const wire::PresharedKey& key);

    // False if its agent is not connected: the core tells it again when it comes.
    bool send(const std::string& node, std::string_view frame);
    void send_to_all(std::string_view frame);
    void close_all();  // At the end: what is queued leaves; for the core nothing has happened.

    bool is_connected(const std::string& node) const;
    // Its agent is (or was last) connected by the unix socket: the node is on this host.
    bool is_local(const std::string& node) const;
    // The address its agent was seen at; empty for a node on this host or one never seen.
    std::string address_of(const std::string& node) const;
    std::size_t count() const { return links_.size(); }

  private:
    struct Link;
    struct Place {
        std::uint64_t link = 0;  // 0: not connected.
        bool local = false;
        std::string address;
    };

    Link& open(bool local);
    wire::Channel::Handlers channel_handlers(std::uint64_t link);
    void on_frame(std::uint64_t link, std::string_view frame);
    void on_register(Link& link, const wire::Register& message);
    void on_message(Link& link, const wire::AgentToController& message);
    void on_relay(Link& link, const wire::AgentToController& message);
    void refuse(Link& link, const std::string& why);
    void close(std::uint64_t link, const std::string& why);
    void note_stranger(const Link& link, const std::string& why);

    io::Loop& loop_;
    os::Log& log_;
    Sessions& sessions_;
    std::string cluster_;
    Handlers handlers_;
    LineLimit stranger_lines_{10};
    std::uint64_t last_link_ = 0;
    std::map<std::uint64_t, std::unique_ptr<Link>> links_;
    std::map<std::string, Place, std::less<>> places_;
};

}  // namespace switchyard::controller
