// steps.cpp: srun asks for a step; its command line is set aside until the core has made the step.
#include "controller/replies.hpp"
#include "controller/requests.hpp"
#include "wire/codec.hpp"

namespace switchyard::controller {

void handle_create_step(Controller& controller, Session& session, const wire::Request& request) {
    const wire::CreateStepRequest& create = request.create_step();
    auto spec = wire::decode(create.spec());
    if (!spec) return controller.finish(session, failure_frame(request.id(), spec.error()));
    Controller::Held held;
    held.step_launch = std::make_shared<const std::string>(create.launch().SerializeAsString());
    controller.step(
        core::event::CreateStep{.token = controller.ask(session, request.id(), std::move(held)),
                                .caller = session.caller,
                                .job = JobId{create.job()},
                                .spec = *std::move(spec),
                                .nonce = create.nonce()});
}

void handle_pids(Controller& controller, Session& session, const wire::Request& request) {
    controller.pids().start(session, request.id(), request.pids());
}

}  // namespace switchyard::controller
