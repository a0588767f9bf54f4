#include "agent/relay.hpp"

#include "base/limits.hpp"
#include "wire/proto/node.pb.h"

namespace switchyard::agent {

Result<std::unique_ptr<Relay>> Relay::listen(io::Loop& loop, const std::string& path, Send send) {
    std::unique_ptr<Relay> relay(new Relay(loop, std::move(send)));
    Relay* self = relay.get();
    SY_TRY(relay->listener_, wire::Listener::on_unix(loop, path, 0666, [self](io::Fd socket) {
               self->accept(std::move(socket));
           }));
    return relay;
}

void Relay::accept(io::Fd socket) {
    if (sessions_.size() >= limits::kConnectionsMax) return;
    const std::uint64_t session = ++last_session_;
    wire::Channel::Handlers handlers;
    handlers.on_frame = [this, session](std::string_view frame) {
        wire::AgentToController message;
        message.mutable_relay_data()->set_session(session);
        message.mutable_relay_data()->set_frame(frame.data(), frame.size());
        send_(message);
    };
    handlers.on_close = [this, session](const Error&) {
        sessions_.erase(session);
        wire::AgentToController message;
        message.mutable_relay_close()->set_session(session);
        send_(message);
    };
    auto channel = wire::Channel::adopt(loop_, std::move(socket), wire::kControllerToClient,
                                        std::move(handlers));
    const auto peer = channel->peer();
    if (!peer) return;
    wire::AgentToController message;
    wire::RelayOpen& open = *message.mutable_relay_open();
    open.set_session(session);
    open.set_uid(peer->uid);
    open.set_gid(peer->gid);
    open.set_pid(static_cast<std::uint32_t>(peer->pid));
    // Without a controller the caller is hung up on, and says that it cannot reach one.
    if (!send_(message)) return channel->close();
    sessions_.emplace(session, std::move(channel));
}

void Relay::on_data(const wire::RelayData& data) {
    const auto it = sessions_.find(data.session());
    if (it != sessions_.end()) it->second->send(data.frame());
}

void Relay::on_close(std::uint64_t session) {
    const auto it = sessions_.find(session);
    if (it == sessions_.end()) return;
    it->second->close();
    sessions_.erase(it);
}

void Relay::drop_all() {
    for (const auto& [session, channel] : sessions_) channel->close();
    sessions_.clear();
}

}  // namespace switchyard::agent
