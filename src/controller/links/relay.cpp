// relay.cpp: commands typed on an agent's host. The agent names the caller; each command is a
// session of its own.
#include "controller/links/agent_link.hpp"
#include "controller/links/replies.hpp"
#include "wire/proto/node.pb.h"

namespace switchyard::controller {
namespace {

std::string data_frame(std::uint64_t number, std::string_view frame) {
    wire::ControllerToAgent out;
    out.mutable_relay_data()->set_session(number);
    out.mutable_relay_data()->set_frame(frame.data(), frame.size());
    return out.SerializeAsString();
}

}  // namespace

void Agents::on_relay(Link& link, const wire::AgentToController& message) {
    if (message.has_relay_open()) {
        const wire::RelayOpen& open = message.relay_open();
        const std::uint64_t number = open.session();
        if (link.relayed.contains(number)) return;
        if (const Status room = sessions_.room_for(open.uid()); !room) {
            link.channel->send(data_frame(number, failure_frame(0, room.error())));
            return;
        }
        wire::Channel* channel = link.channel.get();
        auto send = [channel, number](std::string_view frame) {
            channel->send(data_frame(number, frame));
        };
        Session& session = sessions_.open_relayed(
            model::Caller{.uid = open.uid(), .gid = open.gid()}, *link.outlet, std::move(send));
        session.user = open.user();
        session.group = open.group();
        link.relayed[number] = session.id;
        return;
    }
    const std::uint64_t number =
        message.has_relay_data() ? message.relay_data().session() : message.relay_close().session();
    const auto it = link.relayed.find(number);
    if (it == link.relayed.end()) return;
    const SessionId session = it->second;
    if (message.has_relay_data()) return sessions_.deliver(session, message.relay_data().frame());
    link.relayed.erase(it);
    sessions_.close(session);
}

}  // namespace switchyard::controller
