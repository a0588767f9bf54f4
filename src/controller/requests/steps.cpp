// steps.cpp: srun asks for a step; its command line is set aside until the core has made the step.
#include <fmt/format.h>

#include "base/limits.hpp"
#include "controller/links/replies.hpp"
#include "controller/requests/requests.hpp"
#include "wire/codec.hpp"

namespace switchyard::controller {
namespace {

// The command line of a step, counted as its user's.
Result<Bulk> hold_launch(const Session& session, const wire::StepLaunch& launch) {
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

void handle_create_step(RequestContext& context, Session& session, const wire::Request& request) {
    const wire::CreateStepRequest& create = request.create_step();
    auto spec = wire::decode(create.spec());
    if (!spec) return context.calls.refuse(session, request.id(), spec.error());
    HeldBulk held;
    auto launch = hold_launch(session, create.launch());
    if (!launch) return context.calls.refuse(session, request.id(), launch.error());
    held.step = *std::move(launch);
    core::event::CreateStep event{.token = {},
                                  .caller = session.caller,
                                  .job = JobId{create.job()},
                                  .spec = *std::move(spec),
                                  .nonce = create.nonce()};
    for (const wire::CreateStepRequest& part : create.more()) {
        auto more = wire::decode(part.spec());
        if (!more) return context.calls.refuse(session, request.id(), more.error());
        event.more.push_back({JobId{part.job()}, *std::move(more)});
        auto other = hold_launch(session, part.launch());
        if (!other) return context.calls.refuse(session, request.id(), other.error());
        held.more_steps.push_back(*std::move(other));
    }
    event.token = context.calls.ask(session, request.id(), std::move(held));
    context.step(std::move(event));
}

void handle_notify(RequestContext& context, Session& session, const wire::Request& request) {
    context.step(core::event::Notify{.token = context.calls.ask(session, request.id()),
                                     .caller = session.caller,
                                     .job = JobId{request.notify().job()},
                                     .text = request.notify().text()});
}

void handle_wait_steps(RequestContext& context, Session& session, const wire::Request& request) {
    const wire::WaitStepsRequest& asked = request.wait_steps();
    core::event::WaitForSteps event{.token = context.calls.ask(session, request.id()),
                                    .caller = session.caller,
                                    .job = JobId{asked.job()},
                                    .step = std::nullopt};
    if (asked.has_step()) event.step = StepId{asked.step()};
    context.step(std::move(event));
}

}  // namespace switchyard::controller
