#include "controller/queries/long_reply.hpp"
#include "controller/queries/queries.hpp"
#include "wire/codec.hpp"

namespace switchyard::controller {

void handle_triggers(QueryContext& context, Session& session, const wire::Request& request) {
    LongReply reply(context.calls, session, request.id(),
                    [](wire::Reply& each) { each.mutable_triggers(); });
    for (const auto& [id, trigger] : context.cluster.triggers()) {
        wire::Trigger* one = reply.next().mutable_triggers()->add_triggers();
        wire::encode(trigger, one);
        reply.added(one->ByteSizeLong());
    }
    reply.finish();
}

}  // namespace switchyard::controller
