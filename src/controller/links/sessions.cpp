#include "controller/links/sessions.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/limits.hpp"
#include "controller/links/replies.hpp"
#include "model/rights.hpp"

namespace switchyard::controller {

void Outlet::when_drained(std::function<void()> work) {
    waiting_.push_back(std::move(work));
    if (waiting_.size() > 1) return;
    channel_.on_drained([this] {
        for (const auto& waiting : std::exchange(waiting_, {})) waiting();
    });
}

class Sessions::Direct final : public Session {
  public:
    Direct(SessionId id, model::Caller caller, std::shared_ptr<wire::UserShare> share,
           std::unique_ptr<wire::Channel> channel)
        : Session(id, caller, false, std::move(share)),
          channel_(std::move(channel)),
          outlet_(*channel_) {}
    void send(std::string_view frame) override { channel_->send(frame); }
    Outlet& outlet() override { return outlet_; }
    wire::Channel& channel() { return *channel_; }

  private:
    std::unique_ptr<wire::Channel> channel_;
    Outlet outlet_;
};

class Sessions::Relayed final : public Session {
  public:
    Relayed(SessionId id, model::Caller caller, std::shared_ptr<wire::UserShare> share,
            Outlet& outlet, std::function<void(std::string_view)> send)
        : Session(id, caller, true, std::move(share)), outlet_(outlet), send_(std::move(send)) {}
    void send(std::string_view frame) override { send_(frame); }
    Outlet& outlet() override { return outlet_; }

  private:
    Outlet& outlet_;  // Of the agent's channel, which outlives its relayed sessions.
    std::function<void(std::string_view)> send_;
};

void Sessions::accept(io::Fd socket) {
    const SessionId id = next_id();
    wire::Channel::Handlers handlers{
        .on_frame = [this, id](std::string_view frame) { deliver(id, frame); },
        .on_close = [this, id](const Error&) { close(id); },
        .on_ready = {}};
    auto channel = wire::Channel::adopt(loop_, std::move(socket), wire::kControllerToClient,
                                        std::move(handlers));
    const auto peer = channel->peer();
    if (!peer) return;
    if (const Status room = room_for(peer->uid); !room) {
        channel->send(failure_frame(0, room.error()));
        channel->close();
        return;
    }
    auto share = shares_.of(peer->uid);
    channel->set_terms(wire::client_terms(*share));
    const model::Caller caller{.uid = peer->uid, .gid = peer->gid};
    add(std::make_unique<Direct>(id, caller, std::move(share), std::move(channel)));
}

Session& Sessions::open_relayed(model::Caller caller, Outlet& outlet,
                                std::function<void(std::string_view)> send) {
    auto share = shares_.of(caller.uid);
    return add(
        std::make_unique<Relayed>(next_id(), caller, std::move(share), outlet, std::move(send)));
}

Session& Sessions::add(std::unique_ptr<Session> session) {
    ++session->share->connections;
    const std::uint64_t id = session->id.value;
    return *sessions_.emplace(id, std::move(session)).first->second;
}

Status Sessions::room_for(std::uint32_t uid) {
    if (sessions_.size() >= limits::kConnectionsMax)
        return fail(Errc::Busy, "too many connections to the controller, try again");
    if (!model::has_user_limits(uid) ||
        shares_.of(uid)->connections < limits::kConnectionsPerUserMax)
        return {};
    return fail(Errc::Busy, fmt::format("user {} has {} connections to the controller, at most as "
                                        "many are allowed",
                                        uid, limits::kConnectionsPerUserMax));
}

void Sessions::deliver(SessionId id, std::string_view frame) {
    Session* session = find(id);
    if (session == nullptr) return;
    if (frame.size() <= limits::kClientFrameBytesMax) return handlers_.on_request(*session, frame);
    session->send(failure_frame(
        0, {Errc::Busy, fmt::format("a request of {} bytes is larger than the limit of {}",
                                    frame.size(), limits::kClientFrameBytesMax)}));
    close(id);
}

void Sessions::close(SessionId id, bool path_broke) {
    const auto it = sessions_.find(id.value);
    if (it == sessions_.end()) return;
    // Out of the table first: what on_gone causes must not find it.
    const std::unique_ptr<Session> session = std::move(it->second);
    sessions_.erase(it);
    --session->share->connections;
    session->share->requests -= session->in_flight;
    handlers_.on_gone(*session, path_broke);
    if (auto* direct = dynamic_cast<Direct*>(session.get())) direct->channel().close();
}

void Sessions::close_all() {
    for (const auto& [id, session] : std::exchange(sessions_, {})) {
        if (auto* direct = dynamic_cast<Direct*>(session.get())) direct->channel().close();
    }
}

Session* Sessions::find(SessionId id) {
    const auto it = sessions_.find(id.value);
    return it != sessions_.end() ? it->second.get() : nullptr;
}

}  // namespace switchyard::controller
