#include "agent/relay.hpp"

#include <fmt/format.h>

#include "base/limits.hpp"
#include "model/rights.hpp"
#include "os/users.hpp"
#include "wire/proto/node.pb.h"

namespace switchyard::agent {
namespace {

// With so much unsent nothing more is read from commands until it has left.
constexpr std::size_t kLinkBytesMax = 32u << 20;

}  // namespace

Result<std::unique_ptr<Relay>> Relay::listen(io::Loop& loop, const std::string& path, Link link) {
    std::unique_ptr<Relay> relay(new Relay(loop, std::move(link)));
    Relay* self = relay.get();
    SY_TRY(relay->listener_, wire::Listener::on_unix(loop, path, 0666, [self](io::Fd socket) {
               self->accept(std::move(socket));
           }));
    return relay;
}

wire::Channel::Handlers Relay::handlers_for(std::uint64_t session) {
    return {.on_frame = [this, session](std::string_view frame) { pass_on(session, frame); },
            .on_close =
                [this, session](const Error&) {
                    const auto it = sessions_.find(session);
                    if (it != sessions_.end()) forget(it);
                    wire::AgentToController message;
                    message.mutable_relay_close()->set_session(session);
                    link_.send(message);
                },
            .on_ready = {}};
}

Status Relay::room_for(std::uint32_t uid) {
    if (sessions_.size() >= limits::kConnectionsMax)
        return fail(Errc::Busy, "too many connections to the agent of this node, try again");
    if (!model::has_user_limits(uid) || shares_.of(uid)->connections < limits::kRelayedPerUserMax)
        return {};
    return fail(Errc::Busy, fmt::format("user {} has {} connections to the agent of this node, at "
                                        "most as many are allowed",
                                        uid, limits::kRelayedPerUserMax));
}

const Relay::Names& Relay::names_of(std::uint32_t uid, std::uint32_t gid) {
    const auto [it, fresh] = names_.try_emplace({uid, gid});
    if (fresh) it->second = {os::user_name(uid), os::group_name(gid)};
    return it->second;
}

void Relay::accept(io::Fd socket) {
    const std::uint64_t session = ++last_session_;
    auto channel = wire::Channel::adopt(loop_, std::move(socket), wire::kControllerToClient,
                                        handlers_for(session));
    const auto peer = channel->peer();
    if (!peer) return;
    if (const Status room = room_for(peer->uid); !room) {
        channel->send(wire::refusal_frame(room.error()));
        return channel->close();
    }
    auto share = shares_.of(peer->uid);
    channel->set_terms(wire::client_terms(*share));
    if (paused_) channel->pause_reading(true);
    wire::AgentToController message;
    wire::RelayOpen& open = *message.mutable_relay_open();
    open.set_session(session);
    open.set_uid(peer->uid);
    open.set_gid(peer->gid);
    open.set_pid(static_cast<std::uint32_t>(peer->pid));
    const Names& names = names_of(peer->uid, peer->gid);
    open.set_user(names.user);
    open.set_group(names.group);
    // Without a controller the caller is hung up on, and says that it cannot reach one.
    if (!link_.send(message)) return channel->close();
    ++share->connections;
    sessions_.emplace(session, Session{std::move(channel), std::move(share)});
}

void Relay::pass_on(std::uint64_t session, std::string_view frame) {
    wire::AgentToController message;
    message.mutable_relay_data()->set_session(session);
    message.mutable_relay_data()->set_frame(frame.data(), frame.size());
    link_.send(message);
    if (paused_ || link_.unsent_bytes() <= kLinkBytesMax) return;
    pause(true);
    link_.on_drained([this] { pause(false); });
}

void Relay::pause(bool paused) {
    paused_ = paused;
    for (const auto& [number, session] : sessions_) session.channel->pause_reading(paused);
}

void Relay::forget(std::map<std::uint64_t, Session>::iterator session) {
    --session->second.share->connections;
    sessions_.erase(session);
}

void Relay::on_data(const wire::RelayData& data) {
    const auto it = sessions_.find(data.session());
    if (it != sessions_.end()) it->second.channel->send(data.frame());
}

void Relay::on_close(std::uint64_t session) {
    const auto it = sessions_.find(session);
    if (it == sessions_.end()) return;
    it->second.channel->close();
    forget(it);
}

void Relay::drop_all() {
    for (const auto& [number, session] : sessions_) {
        session.channel->close();
        --session.share->connections;
    }
    sessions_.clear();
    paused_ = false;
}

}  // namespace switchyard::agent
