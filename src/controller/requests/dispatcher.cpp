#include "controller/requests/dispatcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <variant>

#include "base/limits.hpp"
#include "controller/links/replies.hpp"
#include "controller/queries/queries.hpp"
#include "controller/requests/needed_names.hpp"
#include "controller/requests/request_limits.hpp"
#include "controller/requests/requests.hpp"
#include "controller/requests/wire_fields.hpp"
#include "controller/turn/full_disk.hpp"
#include "model/rights.hpp"
#include "wire/codec.hpp"

namespace switchyard::controller {
namespace {

constexpr const char* kNoNames =
    "The name service of the controller's host does not answer: users and groups are not known";

template <class Context>
using HandlerOf = void (*)(Context&, Session&, const wire::Request&);
using Handler = std::variant<std::monostate, HandlerOf<RequestContext>, HandlerOf<QueryContext>,
                             HandlerOf<AdminContext>>;

Handler handler_for(wire::Request::BodyCase body) {
    using Body = wire::Request::BodyCase;
    switch (body) {
        case Body::kSubmit:
            return handle_submit;
        case Body::kAttach:
            return handle_attach;
        case Body::kCreateStep:
            return handle_create_step;
        case Body::kWait:
            return handle_wait;
        case Body::kSignal:
            return handle_signal;
        case Body::kUpdateJob:
            return handle_update_job;
        case Body::kHold:
            return handle_hold;
        case Body::kRequeue:
            return handle_requeue;
        case Body::kSuspend:
            return handle_suspend;
        case Body::kTop:
            return handle_top;
        case Body::kUpdateNode:
            return handle_update_node;
        case Body::kUpdatePartition:
            return handle_update_partition;
        case Body::kJobs:
            return handle_jobs;
        case Body::kNodes:
            return handle_nodes;
        case Body::kPartitions:
            return handle_partitions;
        case Body::kScript:
            return handle_script;
        case Body::kPids:
            return handle_pids;
        case Body::kConfig:
            return handle_config;
        case Body::kPing:
            return handle_ping;
        case Body::kDiag:
            return handle_diag;
        case Body::kReconfigure:
            return handle_reconfigure;
        case Body::kShutdown:
            return handle_shutdown;
        case Body::kRelease:
            return handle_release;
        case Body::kAttachStep:
            return handle_attach_step;
        case Body::kCrontab:
            return handle_crontab;
        case Body::kReboot:
            return handle_reboot;
        case Body::kLog:
            return handle_log;
        case Body::kToken:
            return handle_token;
        case Body::kNotify:
            return handle_notify;
        case Body::kTriggers:
            return handle_triggers;
        case Body::kSetTriggers:
            return handle_set_triggers;
        case Body::kClearTriggers:
            return handle_clear_triggers;
        case Body::kWaitSteps:
            return handle_wait_steps;
        case Body::kUpdateReservation:
            return handle_update_reservation;
        case Body::kReservations:
            return handle_reservations;
        case Body::kLicenses:
            return handle_licenses;
        case Body::BODY_NOT_SET:
            break;
    }
    return std::monostate{};
}

Status room_for_request(const Session& session) {
    if (session.in_flight >= limits::kRequestsInFlightPerConnectionMax) {
        return fail(Errc::Busy, fmt::format("{} requests of this connection are under way, at most "
                                            "as many are allowed",
                                            session.in_flight));
    }
    const bool bounded = model::has_user_limits(session.caller.uid);
    if (!bounded || session.share->requests < limits::kRequestsInFlightPerUserMax) return {};
    return fail(Errc::Busy, fmt::format("{} requests of user {} are under way, at most as many are "
                                        "allowed",
                                        session.share->requests, session.caller.uid));
}

}  // namespace

Dispatcher::Dispatcher(Names& names, RequestContext requests, QueryContext& queries,
                       AdminContext admin, std::function<bool()> disk_is_full)
    : names_(names),
      requests_(std::move(requests)),
      queries_(queries),
      admin_(std::move(admin)),
      disk_is_full_(std::move(disk_is_full)) {}

void Dispatcher::on_request(Session& session, std::string_view frame) {
    // The script and the environment of a submission are passed on as the bytes they came in.
    auto split = split_submission(frame);
    const std::string_view text = split ? split->request : frame;
    if (const Status light = weigh_request(text, split ? split->payload : std::string_view());
        !light) {
        return session.send(failure_frame(request_id(text), light.error()));
    }
    requests_.arriving = nullptr;
    if (split) {
        auto held = wire::hold_bytes(*session.share, std::string(split->payload));
        if (!held) return session.send(failure_frame(request_id(text), held.error()));
        requests_.arriving = *std::move(held);
    }
    wire::Request request;
    if (!request.ParseFromArray(text.data(), static_cast<int>(text.size()))) {
        session.send(failure_frame(0, {Errc::ProtocolVersion, "a request that cannot be read"}));
        return queries_.sessions.close(session.id);
    }
    if (!session.greeted && request.protocol() != wire::kProtocol) {
        requests_.log.error("{} of uid {} speaks protocol {}, we speak {}", request.command(),
                            session.caller.uid, request.protocol(), wire::kProtocol);
        session.send(failure_frame(request.id(), fail(Errc::ProtocolVersion).error));
        return queries_.sessions.close(session.id);
    }
    session.greeted = true;
    ++admin_.figures.requests;
    if (const Status room = room_for_request(session); !room)
        return session.send(failure_frame(request.id(), room.error()));
    ++session.in_flight;
    ++session.share->requests;
    if (std::holds_alternative<std::monostate>(handler_for(request.body_case())))
        return requests_.calls.refuse(session, request.id(), fail(Errc::Unsupported).error);
    requests_.log.debug("{} from uid={}: request {}", request.command(), session.caller.uid,
                        static_cast<int>(request.body_case()));
    requests_.log.about(os::Log::Topic::Protocol, "{} from uid={}: request {}", request.command(),
                        session.caller.uid, static_cast<int>(request.body_case()));
    handle(session, request);
}

// The request waits for the name service where it has to; others do not wait for it.
void Dispatcher::handle(Session& session, const wire::Request& request) {
    Calls& calls = requests_.calls;
    if (const Status may = may_take_in(disk_is_full_(), request.body_case()); !may)
        return calls.refuse(session, request.id(), may.error());
    const NeededNames needed =
        needed_names(request, session, requests_.cluster.rights_of(session.caller),
                     requests_.cluster, admin_.figures, names_);
    if (!names_.has(needed.keys)) {
        return names_.when_known(
            needed.keys, [this, id = session.id, request, bulk = std::move(requests_.arriving)] {
                Session* asking = queries_.sessions.find(id);
                if (asking == nullptr) return;
                requests_.arriving = bulk;
                handle(*asking, request);
            });
    }
    const auto answered = [&](const NameKey& key) { return names_.is_answered(key); };
    if (needed.required && !std::ranges::all_of(needed.keys, answered))
        return calls.refuse(session, request.id(), fail(Errc::Timeout, kNoNames).error);
    names_.look_up_soon(needed.soon);
    call_handler(session, request);
}

void Dispatcher::call_handler(Session& session, const wire::Request& request) {
    const std::uint32_t uid = session.caller.uid;
    const auto begin = std::chrono::steady_clock::now();
    const Handler handler = handler_for(request.body_case());
    if (const auto* asks = std::get_if<HandlerOf<RequestContext>>(&handler))
        (*asks)(requests_, session, request);
    if (const auto* reads = std::get_if<HandlerOf<QueryContext>>(&handler))
        (*reads)(queries_, session, request);
    if (const auto* administers = std::get_if<HandlerOf<AdminContext>>(&handler))
        (*administers)(admin_, session, request);
    admin_.figures.add_request(
        static_cast<int>(request.body_case()), uid,
        std::chrono::duration_cast<Figures::Micros>(std::chrono::steady_clock::now() - begin));
}

}  // namespace switchyard::controller
