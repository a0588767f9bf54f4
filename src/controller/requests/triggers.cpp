// triggers.cpp: strigger: what is set, what is to be set, what is to go.
#include "controller/queries/long_reply.hpp"
#include "controller/requests/replies.hpp"
#include "controller/requests/requests.hpp"
#include "wire/codec.hpp"

namespace switchyard::controller {

void handle_triggers(Controller& controller, Session& session, const wire::Request& request) {
    LongReply reply(controller, session, request.id(),
                    [](wire::Reply& each) { each.mutable_triggers(); });
    for (const auto& [id, trigger] : controller.cluster().triggers()) {
        wire::Trigger* one = reply.next().mutable_triggers()->add_triggers();
        wire::encode(trigger, one);
        reply.added(one->ByteSizeLong());
    }
    reply.finish();
}

void handle_set_triggers(Controller& controller, Session& session, const wire::Request& request) {
    core::event::SetTriggers event;
    for (const wire::Trigger& trigger : request.set_triggers().triggers()) {
        auto decoded = wire::decode(trigger);
        if (!decoded)
            return controller.finish(session, failure_frame(request.id(), decoded.error()));
        event.triggers.push_back(*std::move(decoded));
    }
    event.token = controller.ask(session, request.id());
    event.caller = session.caller;
    event.caller_name = controller.names().name_of(session.caller.uid);
    controller.step(std::move(event));
}

void handle_clear_triggers(Controller& controller, Session& session, const wire::Request& request) {
    const wire::ClearTriggersRequest& asked = request.clear_triggers();
    core::event::ClearTriggers event;
    if (asked.has_id()) event.id = asked.id();
    if (asked.has_job()) event.job = JobId{asked.job()};
    if (asked.has_uid()) event.uid = asked.uid();
    event.token = controller.ask(session, request.id());
    event.caller = session.caller;
    controller.step(std::move(event));
}

}  // namespace switchyard::controller
