#include "controller/replies.hpp"
#include "controller/requests.hpp"
#include "wire/codec.hpp"

namespace switchyard::controller {
namespace {

void finish_script(Controller& controller, SessionId session, std::uint64_t request,
                   const Result<std::optional<std::string>>& found) {
    if (!found) return controller.finish(session, failure_frame(request, found.error()));
    wire::JobPayload payload;
    if (!*found || !payload.ParseFromString(**found) || payload.script().empty()) {
        // A job without a batch script, as scontrol says it.
        return controller.finish(session, failure_frame(request, fail(Errc::InvalidJobId).error));
    }
    wire::Reply reply;
    reply.set_id(request);
    reply.set_last(true);
    reply.mutable_script()->set_script(payload.script());
    controller.finish(session, reply.SerializeAsString());
}

}  // namespace

void handle_jobs(Controller& controller, Session& session, const wire::Request& request) {
    if (request.jobs().history()) {
        controller.streams().start_history(session, request.id(), request.jobs());
    } else {
        controller.streams().start(session, request.id(), request.jobs());
    }
}

// The script is the owner's own; operators may read it too.
void handle_script(Controller& controller, Session& session, const wire::Request& request) {
    const model::JobSelector selector{
        .job = JobId{request.script().job()}, .elements = {}, .step = {}};
    const auto found = controller.cluster().find(selector);
    if (found.empty()) {
        return controller.finish(session,
                                 failure_frame(request.id(), fail(Errc::InvalidJobId).error));
    }
    const model::Job& job = *found.front();
    if (session.caller.uid != job.spec->uid && !controller.is_operator(session.caller)) {
        return controller.finish(session,
                                 failure_frame(request.id(), fail(Errc::AccessDenied).error));
    }
    controller.reader().ask([&controller, payload = payload_of(job), id = session.id,
                             number = request.id()](store::Reader& reader) {
        auto script = reader.payload(payload);
        controller.loop().post([&controller, id, number, script = std::move(script)] {
            finish_script(controller, id, number, script);
        });
    });
}

}  // namespace switchyard::controller
