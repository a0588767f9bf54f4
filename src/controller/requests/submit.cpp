// submit.cpp: a job comes in. The caller's uid is the connection's, never the message's; the script
// and the environment are set aside until the core has given the job its id.
#include <fmt/format.h>

#include <utility>

#include "base/limits.hpp"
#include "controller/links/replies.hpp"
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

void set_user(RequestContext& context, const Session& session, model::JobSpec& spec) {
    const Names& names = context.names;
    spec.uid = session.caller.uid;
    spec.gid = session.caller.gid;
    // A user whom only the submitting host knows has the name that its agent says, never one from
    // the request.
    const bool known = names.find(spec.uid) || session.user.empty();
    spec.user = known ? names.name_of(spec.uid) : session.user;
    spec.group = known ? names.group_name(spec.gid) : session.group;
}

// Empty where nothing asks for groups (needed_names.hpp).
model::Caller with_groups(const RequestContext& context, model::Caller caller) {
    caller.groups = context.names.group_names_of(caller.uid, caller.gid);
    return caller;
}

}  // namespace

void handle_submit(RequestContext& context, Session& session, const wire::Request& request) {
    const wire::SubmitRequest& submit = request.submit();
    Bulk payload = std::exchange(context.arriving, nullptr);
    if (const Status fits = payload ? check_limits(*payload) : Status(); !fits) {
        return context.calls.refuse(session, request.id(), fits.error());
    }
    auto spec = wire::decode(submit.spec());
    if (!spec) return context.calls.refuse(session, request.id(), spec.error());
    set_user(context, session, *spec);

    std::vector<model::JobSpec> components;
    for (const wire::JobSpec& each : submit.components()) {
        auto component = wire::decode(each);
        if (!component) return context.calls.refuse(session, request.id(), component.error());
        set_user(context, session, *component);
        components.push_back(*std::move(component));
    }

    HeldBulk held;
    if (!submit.test_only()) held.job = std::move(payload);
    core::event::Submit event{.token = context.calls.ask(session, request.id(), std::move(held)),
                              .caller = with_groups(context, session.caller),
                              .spec = *std::move(spec),
                              .nonce = submit.nonce(),
                              .test_only = submit.test_only(),
                              .components = std::move(components)};
    context.step(std::move(event));
}

void handle_attach(RequestContext& context, Session& session, const wire::Request& request) {
    context.step(core::event::Attach{.token = context.calls.ask(session, request.id()),
                                     .caller = session.caller,
                                     .job = JobId{request.attach().job()}});
}

void handle_release(RequestContext& context, Session& session, const wire::Request& request) {
    const wire::ReleaseRequest& release = request.release();
    context.step(core::event::Release{
        .token = context.calls.ask(session, request.id()),
        .caller = session.caller,
        .job = JobId{release.job()},
        .exit = {.code = release.exit().code(), .signal = release.exit().signal()}});
}

void handle_wait(RequestContext& context, Session& session, const wire::Request& request) {
    context.step(core::event::WaitForEnd{.token = context.calls.ask(session, request.id()),
                                         .caller = session.caller,
                                         .job = JobId{request.wait().job()}});
}

}  // namespace switchyard::controller
