// triggers.cpp: strigger: what is to be set, what is to go.
#include "controller/links/replies.hpp"
#include "controller/requests/requests.hpp"
#include "wire/codec.hpp"

namespace switchyard::controller {

void handle_set_triggers(RequestContext& context, Session& session, const wire::Request& request) {
    core::event::SetTriggers event;
    for (const wire::Trigger& trigger : request.set_triggers().triggers()) {
        auto decoded = wire::decode(trigger);
        if (!decoded) return context.calls.refuse(session, request.id(), decoded.error());
        event.triggers.push_back(*std::move(decoded));
    }
    event.token = context.calls.ask(session, request.id());
    event.caller = session.caller;
    event.caller_name = context.names.name_of(session.caller.uid);
    context.step(std::move(event));
}

void handle_clear_triggers(RequestContext& context, Session& session,
                           const wire::Request& request) {
    const wire::ClearTriggersRequest& asked = request.clear_triggers();
    core::event::ClearTriggers event;
    if (asked.has_id()) event.id = asked.id();
    if (asked.has_job()) event.job = JobId{asked.job()};
    if (asked.has_uid()) event.uid = asked.uid();
    event.token = context.calls.ask(session, request.id());
    event.caller = session.caller;
    context.step(std::move(event));
}

}  // namespace switchyard::controller
