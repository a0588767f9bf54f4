// steps.cpp: srun asks for a step; its command line is set aside until the core has made the step.
#include <fmt/format.h>

#include "base/limits.hpp"
#include "controller/requests/replies.hpp"
#include "controller/requests/requests.hpp"
#include "wire/codec.hpp"
#include "wire/proto/node.pb.h"

namespace switchyard::controller {
namespace {

// The command line of a step, counted as its user's.
Result<PayloadBytes> hold_launch(const Session& session, const wire::StepLaunch& launch) {
    std::string bytes = launch.SerializeAsString();
    if (bytes.size() > limits::kEnvironmentBytesMax) {
        return fail(Errc::InvalidArgument,
                    fmt::format("The step's command line and environment are too large: {} bytes, "
                                "at most {} are allowed",
                                bytes.size(), limits::kEnvironmentBytesMax));
    }
    return wire::hold_bytes(*session.share, std::move(bytes));
}

}  // namespace

void handle_create_step(Controller& controller, Session& session, const wire::Request& request) {
    const wire::CreateStepRequest& create = request.create_step();
    auto spec = wire::decode(create.spec());
    if (!spec) return controller.finish(session, failure_frame(request.id(), spec.error()));
    Controller::Held held;
    auto launch = hold_launch(session, create.launch());
    if (!launch) return controller.finish(session, failure_frame(request.id(), launch.error()));
    held.step_launch = *std::move(launch);
    core::event::CreateStep event{.token = {},
                                  .caller = session.caller,
                                  .job = JobId{create.job()},
                                  .spec = *std::move(spec),
                                  .nonce = create.nonce()};
    for (const wire::CreateStepRequest& part : create.more()) {
        auto more = wire::decode(part.spec());
        if (!more) return controller.finish(session, failure_frame(request.id(), more.error()));
        event.more.push_back({JobId{part.job()}, *std::move(more)});
        auto other = hold_launch(session, part.launch());
        if (!other) return controller.finish(session, failure_frame(request.id(), other.error()));
        held.more_launches.push_back(*std::move(other));
    }
    event.token = controller.ask(session, request.id(), std::move(held));
    controller.step(std::move(event));
}

// sattach: the nodes of the step are told where another client of its streams is.
void handle_attach_step(Controller& controller, Session& session, const wire::Request& request) {
    const wire::AttachStepRequest& attach = request.attach_step();
    const auto refuse = [&](Errc code) {
        controller.finish(session, failure_frame(request.id(), fail(code).error));
    };
    const core::Cluster& cluster = controller.cluster();
    const auto job = cluster.jobs().find(JobId{attach.job()});
    if (job == cluster.jobs().end()) return refuse(Errc::InvalidJobId);
    if (session.caller.uid != job->second.spec->uid && session.caller.uid != 0)
        return refuse(Errc::AccessDenied);
    const StepKey key{job->first, job->second.attempt, StepId{attach.step()}};
    const auto step = cluster.steps().find(key);
    if (step == cluster.steps().end() || key.step == kBatchStep ||
        model::state_of(step->second) != model::JobState::Running)
        return refuse(Errc::InvalidStepId);
    wire::Reply reply;
    reply.set_id(request.id());
    reply.set_last(true);
    wire::encode(step->second, reply.mutable_step_made()->mutable_step());
    wire::encode(job->second, reply.mutable_step_made()->mutable_job());
    // Without an address it is only a question about the layout.
    if (!attach.io_key().empty()) {
        wire::ControllerToAgent order;
        wire::encode_key(key, order.mutable_attach_step()->mutable_key());
        *order.mutable_attach_step()->mutable_client() = attach;
        for (const std::string& node : step->second.running_nodes)
            controller.agents().send(node, order.SerializeAsString());
    }
    controller.finish(session, reply.SerializeAsString());
}

void handle_notify(Controller& controller, Session& session, const wire::Request& request) {
    controller.step(core::event::Notify{.token = controller.ask(session, request.id()),
                                        .caller = session.caller,
                                        .job = JobId{request.notify().job()},
                                        .text = request.notify().text()});
}

void handle_wait_steps(Controller& controller, Session& session, const wire::Request& request) {
    const wire::WaitStepsRequest& asked = request.wait_steps();
    core::event::WaitForSteps event{.token = controller.ask(session, request.id()),
                                    .caller = session.caller,
                                    .job = JobId{asked.job()},
                                    .step = std::nullopt};
    if (asked.has_step()) event.step = StepId{asked.step()};
    controller.step(std::move(event));
}

void handle_pids(Controller& controller, Session& session, const wire::Request& request) {
    controller.pids().start(session, request.id(), request.pids());
}

}  // namespace switchyard::controller
