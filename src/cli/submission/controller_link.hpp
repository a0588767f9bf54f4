// controller_link.hpp: a command's connection to the controller on its event loop. Replies come as
// callbacks; when the connection is lost it is made again in the background, because the allocation
// and its tasks live on.
#pragma once

#include <functional>
#include <string>

#include "cli/session.hpp"
#include "io/loop.hpp"

namespace switchyard::cli {

// call(), and again with the same nonce for some seconds while there is no controller: the agent
// that relays for us may be there when its controller is just being restarted.
Result<wire::Reply> call_patiently(client::Connection& connection, wire::Request& request);

class ControllerLink {
  public:
    using OnReply = std::function<void(const wire::Reply& reply)>;

    ControllerLink(io::Loop& loop, Session session, std::string program);

    // Blocking, one answer. Retries by itself what may be repeated. Replies to other requests that
    // come meanwhile reach the listener later.
    Result<wire::Reply> call(wire::Request& request);
    // Not waiting: the answer comes to the listener. Lost with the connection.
    void send(wire::Request& request);

    // From now on replies go to `on_reply`; after a lost connection is back, `on_back` is called.
    void listen(OnReply on_reply, std::function<void()> on_back);
    void stop_listening();

    const std::vector<std::string>& last_notes() const { return session_.connection.last_notes(); }
    const config::Config& config() const { return session_.config; }

  private:
    void watch();
    void read_replies();
    void lost();
    void try_again();

    io::Loop& loop_;
    Session session_;
    std::string program_;
    OnReply on_reply_;
    std::function<void()> on_back_;
    bool listening_ = false, connected_ = true;
    io::Loop::Watch watch_;
    io::Loop::Timer retry_;
};

}  // namespace switchyard::cli
