// sessions.hpp: who asks: a command connected to our unix socket, or one relayed by the agent of
// its host. Both look the same from here on: a caller whose uid the kernel (or the vouching agent)
// named, and a way back.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/cluster/event.hpp"
#include "io/loop.hpp"
#include "wire/channel.hpp"
#include "wire/user_share.hpp"

namespace switchyard::controller {

// The outgoing side of a channel, with any number of parties waiting for it to drain.
class Outlet {
  public:
    explicit Outlet(wire::Channel& channel) : channel_(channel) {}
    void send(std::string_view frame) { channel_.send(frame); }
    std::size_t unsent_bytes() const { return channel_.unsent_bytes(); }
    void when_drained(std::function<void()> work);

  private:
    wire::Channel& channel_;
    std::vector<std::function<void()>> waiting_;
};

struct SessionId {
    std::uint64_t value = 0;
    auto operator<=>(const SessionId&) const = default;
};

class Session {
  public:
    Session(SessionId id, model::Caller caller, bool relayed,
            std::shared_ptr<wire::UserShare> share)
        : id(id), caller(caller), relayed(relayed), share(std::move(share)) {}
    virtual ~Session() = default;
    virtual void send(std::string_view frame) = 0;
    virtual Outlet& outlet() = 0;

    const SessionId id;
    const model::Caller caller;
    const bool relayed;
    const std::shared_ptr<wire::UserShare> share;  // Of all the sessions of this user.
    std::string user, group;                       // As the vouching agent knows them.
    bool greeted = false;                          // Its first request named a protocol we speak.
    std::size_t in_flight = 0;
    std::size_t lists = 0;                     // Of jobs, among them.
    std::unordered_set<std::uint64_t> tokens;  // Of requests the core has yet to answer.
};

class Sessions {
  public:
    struct Handlers {
        std::function<void(Session&, std::string_view frame)> on_request;
        // Just before it is removed. `path_broke`: the agent that carried it went, not the command
        // itself.
        std::function<void(Session&, bool path_broke)> on_gone;
    };

    Sessions(io::Loop& loop, Handlers handlers) : loop_(loop), handlers_(std::move(handlers)) {}

    // Takes a connection of the unix socket. Over the limit it is told so and closed.
    void accept(io::Fd socket);
    // A caller vouched for by an agent; `send` wraps a reply for the way back.
    Session& open_relayed(model::Caller caller, Outlet& outlet,
                          std::function<void(std::string_view)> send);
    void deliver(SessionId id, std::string_view frame);
    void close(SessionId id, bool path_broke = false);
    void close_all();  // At the end: what is queued leaves, nobody is told.

    Session* find(SessionId id);
    // Busy: one more of this user's is over a limit.
    Status room_for(std::uint32_t uid);
    std::size_t count() const { return sessions_.size(); }

  private:
    class Direct;
    class Relayed;
    SessionId next_id() { return SessionId{++last_id_}; }
    Session& add(std::unique_ptr<Session> session);

    io::Loop& loop_;
    Handlers handlers_;
    std::uint64_t last_id_ = 0;
    std::unordered_map<std::uint64_t, std::unique_ptr<Session>> sessions_;
    wire::UserShares shares_;
};

}  // namespace switchyard::controller
