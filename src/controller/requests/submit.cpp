// submit.cpp: a job comes in. The caller's uid is the connection's, never the message's; the script
// and the environment are set aside until the core has given the job its id.
#include <algorithm>

#include <fmt/format.h>

#include "base/limits.hpp"
#include "controller/requests/replies.hpp"
#include "controller/requests/requests.hpp"
#include "controller/requests/wire_fields.hpp"
#include "wire/codec.hpp"

namespace switchyard::controller {
namespace {

Status check_limits(std::string_view payload) {
    const auto sizes = measure_payload(payload);
    if (!sizes) return fail(Errc::InvalidArgument, "The job's script cannot be read");
    if (sizes->script > limits::kScriptBytesMax) {
        return fail(Errc::InvalidArgument,
                    fmt::format("Batch script is too large: {} bytes, at most {} are allowed",
                                sizes->script, limits::kScriptBytesMax));
    }
    if (sizes->environment > limits::kEnvironmentBytesMax) {
        return fail(
            Errc::InvalidArgument,
            fmt::format("The job's environment is too large: {} bytes, at most {} are allowed",
                        sizes->environment, limits::kEnvironmentBytesMax));
    }
    return {};
}

void set_user(Controller& controller, const Session& session, model::JobSpec& spec) {
    Users& users = controller.users();
    spec.uid = session.caller.uid;
    spec.gid = session.caller.gid;
    // A user whom only the submitting host knows has the name that its agent says, never one from
    // the request.
    const bool known = users.find(spec.uid) || session.user.empty();
    spec.user = known ? users.name_of(spec.uid) : session.user;
    spec.group = known ? users.group_name(spec.gid) : session.group;
}

// Groups are looked up only where a partition or a reservation asks for them.
core::Caller with_groups(Controller& controller, core::Caller caller) {
    const bool asked =
        std::ranges::any_of(
            controller.cluster().partitions(),
            [](const model::Partition& each) { return !each.allow_groups.empty(); }) ||
        std::ranges::any_of(controller.cluster().reservations(),
                            [](const auto& each) { return !each.second.groups.empty(); });
    if (!asked) return caller;
    Users& users = controller.users();
    for (const std::uint32_t gid : users.groups_of(caller.uid, caller.gid))
        caller.groups.push_back(users.group_name(gid));
    return caller;
}

}  // namespace

void handle_submit(Controller& controller, Session& session, const wire::Request& request) {
    const wire::SubmitRequest& submit = request.submit();
    PayloadBytes payload = controller.take_payload();
    if (const Status fits = payload ? check_limits(*payload) : Status(); !fits) {
        return controller.finish(session, failure_frame(request.id(), fits.error()));
    }
    auto spec = wire::decode(submit.spec());
    if (!spec) return controller.finish(session, failure_frame(request.id(), spec.error()));
    set_user(controller, session, *spec);

    std::vector<model::JobSpec> components;
    for (const wire::JobSpec& each : submit.components()) {
        auto component = wire::decode(each);
        if (!component)
            return controller.finish(session, failure_frame(request.id(), component.error()));
        set_user(controller, session, *component);
        components.push_back(*std::move(component));
    }

    Controller::Held held;
    if (!submit.test_only()) held.payload = std::move(payload);
    core::event::Submit event{.token = controller.ask(session, request.id(), std::move(held)),
                              .caller = with_groups(controller, session.caller),
                              .spec = *std::move(spec),
                              .nonce = submit.nonce(),
                              .test_only = submit.test_only(),
                              .components = std::move(components)};
    controller.step(std::move(event));
}

void handle_attach(Controller& controller, Session& session, const wire::Request& request) {
    controller.step(core::event::Attach{.token = controller.ask(session, request.id()),
                                        .caller = session.caller,
                                        .job = JobId{request.attach().job()}});
}

void handle_release(Controller& controller, Session& session, const wire::Request& request) {
    const wire::ReleaseRequest& release = request.release();
    controller.step(core::event::Release{
        .token = controller.ask(session, request.id()),
        .caller = session.caller,
        .job = JobId{release.job()},
        .exit = {.code = release.exit().code(), .signal = release.exit().signal()}});
}

void handle_wait(Controller& controller, Session& session, const wire::Request& request) {
    controller.step(core::event::WaitForEnd{.token = controller.ask(session, request.id()),
                                            .caller = session.caller,
                                            .job = JobId{request.wait().job()}});
}

}  // namespace switchyard::controller
