// relay.hpp: commands typed on this host, carried to the controller over the agent's connection.
//
// The kernel says who speaks (SO_PEERCRED); the agent vouches for it. Frames are passed on unread.
// A user has limits here as at the controller: whoever goes over one is told and closed, and the
// connection that all share is never filled by one of them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "io/loop.hpp"
#include "wire/channel.hpp"
#include "wire/user_share.hpp"

namespace switchyard::wire {
class AgentToController;
class RelayData;
}  // namespace switchyard::wire

namespace switchyard::agent {

class Relay {
  public:
    // The way to the controller.
    struct Link {
        std::function<bool(const wire::AgentToController& message)> send;  // False: there is none.
        std::function<std::size_t()> unsent_bytes;
        std::function<void(std::function<void()>)> on_drained;
    };

    static Result<std::unique_ptr<Relay>> listen(io::Loop& loop, const std::string& path,
                                                 Link link);

    void on_data(const wire::RelayData& data);
    void on_close(std::uint64_t session);
    // The controller is gone and with it all who were talking to it.
    void drop_all();

  private:
    struct Names {
        std::string user, group;
    };
    struct Session {
        std::unique_ptr<wire::Channel> channel;
        std::shared_ptr<wire::UserShare> share;
    };

    Relay(io::Loop& loop, Link link) : loop_(loop), link_(std::move(link)) {}
    void accept(io::Fd socket);
    wire::Channel::Handlers handlers_for(std::uint64_t session);
    Status room_for(std::uint32_t uid);
    const Names& names_of(std::uint32_t uid, std::uint32_t gid);
    void pass_on(std::uint64_t session, std::string_view frame);
    void pause(bool paused);
    void forget(std::map<std::uint64_t, Session>::iterator session);

    io::Loop& loop_;
    Link link_;
    std::unique_ptr<wire::Listener> listener_;
    wire::UserShares shares_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Names> names_;  // Looked up once.
    std::map<std::uint64_t, Session> sessions_;
    std::uint64_t last_session_ = 0;
    bool paused_ = false;  // The link has enough to send.
};

}  // namespace switchyard::agent
