#include "controller/sessions.hpp"

#include <utility>

#include "base/limits.hpp"
#include "controller/replies.hpp"

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
    Direct(SessionId id, core::Caller caller, std::unique_ptr<wire::Channel> channel)
        : Session(id, caller, false), channel_(std::move(channel)), outlet_(*channel_) {}
    void send(std::string_view frame) override { channel_->send(frame); }
    Outlet& outlet() override { return outlet_; }
    wire::Channel& channel() { return *channel_; }

  private:
    std::unique_ptr<wire::Channel> channel_;
    Outlet outlet_;
};

class Sessions::Relayed final : public Session {
  public:
    Relayed(SessionId id, core::Caller caller, Outlet& outlet,
            std::function<void(std::string_view)> send)
        : Session(id, caller, true), outlet_(outlet), send_(std::move(send)) {}
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
    if (!has_room_for(peer->uid)) {
        channel->send(
            failure_frame(0, {Errc::Busy, "too many connections to the controller, try again"}));
        channel->close();
        return;
    }
    const core::Caller caller{.uid = peer->uid, .gid = peer->gid};
    add(std::make_unique<Direct>(id, caller, std::move(channel)));
}

SessionId Sessions::open_relayed(core::Caller caller, Outlet& outlet,
                                 std::function<void(std::string_view)> send) {
    const SessionId id = next_id();
    add(std::make_unique<Relayed>(id, caller, outlet, std::move(send)));
    return id;
}

void Sessions::add(std::unique_ptr<Session> session) {
    ++by_uid_[session->caller.uid];
    sessions_.emplace(session->id.value, std::move(session));
}

bool Sessions::has_room_for(std::uint32_t uid) const {
    if (sessions_.size() >= limits::kConnectionsMax) return false;
    const auto it = by_uid_.find(uid);
    return uid == 0 || it == by_uid_.end() || it->second < limits::kConnectionsPerUserMax;
}

void Sessions::deliver(SessionId id, std::string_view frame) {
    if (Session* session = find(id)) handlers_.on_request(*session, frame);
}

void Sessions::close(SessionId id, bool path_broke) {
    const auto it = sessions_.find(id.value);
    if (it == sessions_.end()) return;
    // Out of the table first: what on_gone causes must not find it.
    const std::unique_ptr<Session> session = std::move(it->second);
    sessions_.erase(it);
    if (--by_uid_[session->caller.uid] == 0) by_uid_.erase(session->caller.uid);
    handlers_.on_gone(*session, path_broke);
    if (auto* direct = dynamic_cast<Direct*>(session.get())) direct->channel().close();
}

void Sessions::close_all() {
    by_uid_.clear();
    for (const auto& [id, session] : std::exchange(sessions_, {})) {
        if (auto* direct = dynamic_cast<Direct*>(session.get())) direct->channel().close();
    }
}

Session* Sessions::find(SessionId id) {
    const auto it = sessions_.find(id.value);
    return it != sessions_.end() ? it->second.get() : nullptr;
}

}  // namespace switchyard::controller
