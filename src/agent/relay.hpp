// relay.hpp: commands typed on this host, carried to the controller over the agent's connection.
//
// The kernel says who speaks (SO_PEERCRED); the agent vouches for it. Frames are passed on unread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "io/loop.hpp"
#include "wire/channel.hpp"

namespace switchyard::wire {
class AgentToController;
class RelayData;
}  // namespace switchyard::wire

namespace switchyard::agent {

class Relay {
  public:
    using Send =
        std::function<bool(const wire::AgentToController& message)>;  // False: no controller.

    static Result<std::unique_ptr<Relay>> listen(io::Loop& loop, const std::string& path,
                                                 Send send);

    void on_data(const wire::RelayData& data);
    void on_close(std::uint64_t session);
    // The controller is gone and with it all who were talking to it.
    void drop_all();

  private:
    Relay(io::Loop& loop, Send send) : loop_(loop), send_(std::move(send)) {}
    void accept(io::Fd socket);

    io::Loop& loop_;
    Send send_;
    std::unique_ptr<wire::Listener> listener_;
    std::map<std::uint64_t, std::unique_ptr<wire::Channel>> sessions_;
    std::uint64_t last_session_ = 0;
};

}  // namespace switchyard::agent
