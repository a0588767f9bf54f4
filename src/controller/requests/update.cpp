// update.cpp: scancel, and what scontrol does to jobs.
#include <fmt/format.h>

#include "base/limits.hpp"
#include "controller/links/replies.hpp"
#include "controller/queries/filters.hpp"
#include "controller/requests/requests.hpp"
#include "wire/codec.hpp"

namespace switchyard::controller {
namespace {

using Selectors = google::protobuf::RepeatedPtrField<wire::JobSelector>;

// What all requests that name jobs share: `make` turns them into the event.
template <class Make>
void step_with_jobs(RequestContext& context, Session& session, const wire::Request& request,
                    const Selectors& messages, Make make) {
    auto jobs = to_selectors(messages);
    if (!jobs) return context.calls.refuse(session, request.id(), jobs.error());
    context.step(make(context.calls.ask(session, request.id()), *std::move(jobs)));
}

}  // namespace

void handle_signal(RequestContext& context, Session& session, const wire::Request& request) {
    const wire::SignalRequest& signal = request.signal();
    auto filter = to_filter(signal.filter());
    // The core compares every job with each of them.
    if (filter && filter->nodes.size() > limits::kFilterWordsMax) {
        filter = fail(Errc::InvalidArgument, fmt::format("too many nodes: at most {} are allowed",
                                                         limits::kFilterWordsMax));
    }
    if (!filter) return context.calls.refuse(session, request.id(), filter.error());
    context.step(core::event::Signal{.token = context.calls.ask(session, request.id()),
                                     .caller = session.caller,
                                     .filter = *std::move(filter),
                                     .signal = signal.signal(),
                                     .batch_only = signal.batch_only(),
                                     .full = signal.full(),
                                     .hurry = signal.hurry(),
                                     .admin_comment = signal.admin_comment()});
}

void handle_update_job(RequestContext& context, Session& session, const wire::Request& request) {
    const wire::UpdateJobRequest& message = request.update_job();
    auto update = wire::decode(message.update());
    if (!update) return context.calls.refuse(session, request.id(), update.error());
    step_with_jobs(context, session, request, message.jobs(), [&](core::Token token, auto jobs) {
        return core::event::UpdateJob{.token = token,
                                      .caller = session.caller,
                                      .jobs = std::move(jobs),
                                      .update = *std::move(update)};
    });
}

void handle_hold(RequestContext& context, Session& session, const wire::Request& request) {
    const wire::HoldRequest& message = request.hold();
    step_with_jobs(context, session, request, message.jobs(), [&](core::Token token, auto jobs) {
        return core::event::Hold{.token = token,
                                 .caller = session.caller,
                                 .jobs = std::move(jobs),
                                 .hold = message.hold(),
                                 .as_user = message.as_user()};
    });
}

void handle_requeue(RequestContext& context, Session& session, const wire::Request& request) {
    const wire::RequeueRequest& message = request.requeue();
    step_with_jobs(context, session, request, message.jobs(), [&](core::Token token, auto jobs) {
        return core::event::Requeue{.token = token,
                                    .caller = session.caller,
                                    .jobs = std::move(jobs),
                                    .hold = message.hold(),
                                    .incomplete_only = message.incomplete_only(),
                                    .special_exit = message.special_exit()};
    });
}

void handle_suspend(RequestContext& context, Session& session, const wire::Request& request) {
    const wire::SuspendRequest& message = request.suspend();
    step_with_jobs(context, session, request, message.jobs(), [&](core::Token token, auto jobs) {
        return core::event::Suspend{.token = token,
                                    .caller = session.caller,
                                    .jobs = std::move(jobs),
                                    .resume = message.resume()};
    });
}

void handle_top(RequestContext& context, Session& session, const wire::Request& request) {
    step_with_jobs(context, session, request, request.top().jobs(),
                   [&](core::Token token, auto jobs) {
                       return core::event::Top{
                           .token = token, .caller = session.caller, .jobs = std::move(jobs)};
                   });
}

}  // namespace switchyard::controller
