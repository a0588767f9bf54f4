#include <fmt/format.h>

#include "base/version.hpp"
#include "controller/links/replies.hpp"
#include "controller/names/addresses.hpp"
#include "controller/queries/config_values.hpp"
#include "controller/requests/requests.hpp"
#include "os/host.hpp"
#include "wire/codec.hpp"
#include "wire/proto/node.pb.h"

namespace switchyard::controller {
namespace {

std::int64_t millis(Instant instant) { return instant.time_since_epoch().count(); }

}  // namespace

bool allowed(AdminContext& context, Session& session, const wire::Request& request) {
    if (context.cluster.rights_of(session.caller).may_administer()) return true;
    context.log.error("Security violation: {} of uid={} refused", request.command(),
                      session.caller.uid);
    context.calls.refuse(session, request.id(), fail(Errc::AccessDenied).error);
    return false;
}

void handle_config(AdminContext& context, Session& session, const wire::Request& request) {
    wire::Reply reply = answer_to(request);
    wire::ConfigReply* out = reply.mutable_config();
    const auto values = config_values(context.config, context.log, context.figures.started,
                                      context.cluster.next_job_id(), context.slurm_user);
    for (const auto& [key, value] : values) {
        wire::KeyValue* entry = out->add_values();
        entry->set_key(key);
        entry->set_value(value);
    }
    out->set_booted(millis(context.figures.started));
    out->set_next_job_id(context.cluster.next_job_id().value);
    context.calls.finish(session, reply.SerializeAsString());
}

void handle_ping(AdminContext& context, Session& session, const wire::Request& request) {
    wire::Reply reply = answer_to(request);
    reply.mutable_ping()->set_host(os::full_host_name());
    reply.mutable_ping()->set_version(std::string(kVersionLine));
    reply.mutable_ping()->set_now(millis(context.now()));
    context.calls.finish(session, reply.SerializeAsString());
}

void handle_reconfigure(AdminContext& context, Session& session, const wire::Request& request) {
    if (!allowed(context, session, request)) return;
    const core::Token token = context.calls.ask(session, request.id());
    const Status done = context.reconfigure(token);
    if (done) return;
    context.calls.withdraw(token);
    context.calls.refuse(session, request.id(), done.error());
}

void handle_shutdown(AdminContext& context, Session& session, const wire::Request& request) {
    if (!allowed(context, session, request)) return;
    context.log.info("Shutdown asked for by uid={}", session.caller.uid);
    if (request.shutdown().abort()) {
        context.calls.finish(session, done_frame(request.id()));
        return context.abort();
    }
    if (!request.shutdown().controller_only()) {
        wire::ControllerToAgent shutdown;
        shutdown.mutable_shutdown();
        context.agents.send_to_all(shutdown.SerializeAsString());
    }
    context.calls.finish(session, done_frame(request.id()));
    context.stop();
}

}  // namespace switchyard::controller
