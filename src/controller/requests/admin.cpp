#include <fmt/format.h>

#include "controller/queries/config_values.hpp"
#include "controller/requests/replies.hpp"
#include "controller/requests/requests.hpp"
#include "wire/codec.hpp"
#include "wire/proto/node.pb.h"

namespace switchyard::controller {
namespace {

std::int64_t millis(Instant instant) { return instant.time_since_epoch().count(); }

}  // namespace

bool allowed(Controller& controller, Session& session, const wire::Request& request) {
    if (controller.is_operator(session.caller)) return true;
    controller.log().error("Security violation: {} of uid={} refused", request.command(),
                           session.caller.uid);
    controller.finish(session, failure_frame(request.id(), fail(Errc::AccessDenied).error));
    return false;
}

void handle_config(Controller& controller, Session& session, const wire::Request& request) {
    wire::Reply reply = answer_to(request);
    wire::ConfigReply* out = reply.mutable_config();
    const auto values =
        config_values(controller.config(), controller.log(), controller.figures().started,
                      controller.cluster().next_job_id(), controller.slurm_user());
    for (const auto& [key, value] : values) {
        wire::KeyValue* entry = out->add_values();
        entry->set_key(key);
        entry->set_value(value);
    }
    out->set_booted(millis(controller.figures().started));
    out->set_next_job_id(controller.cluster().next_job_id().value);
    controller.finish(session, reply.SerializeAsString());
}

void handle_ping(Controller& controller, Session& session, const wire::Request& request) {
    wire::Reply reply = answer_to(request);
    reply.mutable_ping()->set_host(local_host_name());
    reply.mutable_ping()->set_version(kSlurmVersion);
    reply.mutable_ping()->set_now(millis(controller.now()));
    controller.finish(session, reply.SerializeAsString());
}

void handle_reconfigure(Controller& controller, Session& session, const wire::Request& request) {
    if (!allowed(controller, session, request)) return;
    const core::Token token = controller.ask(session, request.id());
    const Status done = controller.reconfigure(token);
    if (done) return;
    controller.withdraw(token);
    controller.finish(session, failure_frame(request.id(), done.error()));
}

void handle_shutdown(Controller& controller, Session& session, const wire::Request& request) {
    if (!allowed(controller, session, request)) return;
    controller.log().info("Shutdown asked for by uid={}", session.caller.uid);
    if (request.shutdown().abort()) {
        controller.finish(session, done_frame(request.id()));
        return controller.abort();
    }
    if (!request.shutdown().controller_only()) {
        wire::ControllerToAgent shutdown;
        shutdown.mutable_shutdown();
        controller.agents().send_to_all(shutdown.SerializeAsString());
    }
    controller.finish(session, done_frame(request.id()));
    controller.stop();
}

}  // namespace switchyard::controller
