// update_node.cpp: what scontrol does to nodes.
#include "controller/requests/requests.hpp"
#include "wire/codec.hpp"

namespace switchyard::controller {

void handle_update_node(RequestContext& context, Session& session, const wire::Request& request) {
    auto update = wire::decode(request.update_node());
    if (!update) return context.calls.refuse(session, request.id(), update.error());
    context.step(core::event::UpdateNode{.token = context.calls.ask(session, request.id()),
                                         .caller = session.caller,
                                         .caller_name = context.names.name_of(session.caller.uid),
                                         .update = *std::move(update)});
}

void handle_reboot(RequestContext& context, Session& session, const wire::Request& request) {
    const wire::RebootRequest& asked = request.reboot();
    using After = model::NodeReboot::After;
    if (asked.after() > static_cast<std::uint32_t>(After::Down)) {
        return context.calls.refuse(session, request.id(), fail(Errc::InvalidArgument).error);
    }
    core::event::Reboot event{.token = context.calls.ask(session, request.id()),
                              .caller = session.caller,
                              .caller_name = context.names.name_of(session.caller.uid),
                              .nodes = {asked.nodes().begin(), asked.nodes().end()},
                              .asap = asked.asap(),
                              .after = static_cast<After>(asked.after()),
                              .reason = std::nullopt};
    if (asked.has_reason()) event.reason = asked.reason();
    context.step(std::move(event));
}

}  // namespace switchyard::controller
