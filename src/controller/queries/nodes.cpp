#include <algorithm>

#include "controller/queries/long_reply.hpp"
#include "controller/queries/visibility.hpp"
#include "controller/requests/replies.hpp"
#include "controller/requests/requests.hpp"
#include "wire/codec.hpp"

namespace switchyard::controller {
namespace {

// Names that do not exist leave nothing: the command says which.
void answer_nodes(Controller& controller, Session& session, const wire::Request& request) {
    const DurableView& durable = controller.durable();
    const auto now = controller.now().time_since_epoch().count();
    LongReply reply(controller, session, request.id(),
                    [now](wire::Reply& each) { each.mutable_nodes()->set_now(now); });
    std::vector<std::string> concealed;
    if (request.nodes().conceal()) concealed = concealed_partitions(controller, session.caller);
    const auto add = [&](const model::Node& node) {
        wire::Node* one = reply.next().mutable_nodes()->add_nodes();
        wire::encode(durable.differs() ? durable.as_stored(node) : node, one);
        if (!concealed.empty()) one->clear_partitions();
        for (const std::string& name : node.partitions) {
            if (concealed.empty()) break;
            if (std::ranges::find(concealed, name) == concealed.end()) one->add_partitions(name);
        }
        reply.added(one->ByteSizeLong());
    };
    if (request.nodes().names().empty()) {
        for (const model::Node& node : controller.cluster().nodes()) add(node);
    }
    for (const std::string& name : request.nodes().names()) {
        const model::Node* node = controller.cluster().find_node(name);
        if (node != nullptr) add(*node);
    }
    reply.finish();
}

}  // namespace

void handle_nodes(Controller& controller, Session& session, const wire::Request& request) {
    if (controller.durable().is_ready()) return answer_nodes(controller, session, request);
    controller.durable().when_ready([&controller, id = session.id, request] {
        if (Session* asking = controller.sessions().find(id))
            answer_nodes(controller, *asking, request);
    });
}

void handle_update_node(Controller& controller, Session& session, const wire::Request& request) {
    auto update = wire::decode(request.update_node());
    if (!update) return controller.finish(session, failure_frame(request.id(), update.error()));
    controller.step(
        core::event::UpdateNode{.token = controller.ask(session, request.id()),
                                .caller = session.caller,
                                .caller_name = controller.names().name_of(session.caller.uid),
                                .update = *std::move(update)});
}

void handle_reboot(Controller& controller, Session& session, const wire::Request& request) {
    const wire::RebootRequest& asked = request.reboot();
    using After = model::NodeReboot::After;
    if (asked.after() > static_cast<std::uint32_t>(After::Down)) {
        return controller.finish(session,
                                 failure_frame(request.id(), fail(Errc::InvalidArgument).error));
    }
    core::event::Reboot event{.token = controller.ask(session, request.id()),
                              .caller = session.caller,
                              .caller_name = controller.names().name_of(session.caller.uid),
                              .nodes = {asked.nodes().begin(), asked.nodes().end()},
                              .asap = asked.asap(),
                              .after = static_cast<After>(asked.after()),
                              .reason = std::nullopt};
    if (asked.has_reason()) event.reason = asked.reason();
    controller.step(std::move(event));
}

}  // namespace switchyard::controller
