// requests.cpp: from a frame to its handler.
#include "controller/requests/requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/limits.hpp"
#include "controller/requests/needed_names.hpp"
#include "controller/requests/replies.hpp"
#include "controller/requests/request_limits.hpp"
#include "controller/requests/wire_fields.hpp"
#include "controller/turn/full_disk.hpp"
#include "wire/codec.hpp"

namespace switchyard::controller {
namespace {

constexpr const char* kNoNames =
    "The name service of the controller's host does not answer: users and groups are not known";

using Handler = void (*)(Controller&, Session&, const wire::Request&);

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
    return nullptr;
}

Status room_for_request(const Session& session) {
    if (session.in_flight >= limits::kRequestsInFlightPerConnectionMax) {
        return fail(Errc::Busy, fmt::format("{} requests of this connection are under way, at most "
                                            "as many are allowed",
                                            session.in_flight));
    }
    const bool bounded = session.caller.uid != 0;
    if (!bounded || session.share->requests < limits::kRequestsInFlightPerUserMax) return {};
    return fail(Errc::Busy, fmt::format("{} requests of user {} are under way, at most as many are "
                                        "allowed",
                                        session.share->requests, session.caller.uid));
}

}  // namespace

void Controller::on_request(Session& session, std::string_view frame) {
    // The script and the environment of a submission are passed on as the bytes they came in.
    auto split = split_submission(frame);
    const std::string_view text = split ? split->request : frame;
    if (const Status light = weigh_request(text, split ? split->payload : std::string_view());
        !light) {
        return session.send(failure_frame(request_id(text), light.error()));
    }
    arriving_ = nullptr;
    if (split) {
        auto held = wire::hold_bytes(*session.share, std::string(split->payload));
        if (!held) return session.send(failure_frame(request_id(text), held.error()));
        arriving_ = *std::move(held);
    }
    wire::Request request;
    if (!request.ParseFromArray(text.data(), static_cast<int>(text.size()))) {
        session.send(failure_frame(0, {Errc::ProtocolVersion, "a request that cannot be read"}));
        return sessions_.close(session.id);
    }
    if (!session.greeted && request.protocol() != wire::kProtocol) {
        log_.error("{} of uid {} speaks protocol {}, we speak {}", request.command(),
                   session.caller.uid, request.protocol(), wire::kProtocol);
        session.send(failure_frame(request.id(), fail(Errc::ProtocolVersion).error));
        return sessions_.close(session.id);
    }
    session.greeted = true;
    ++figures_.requests;
    if (const Status room = room_for_request(session); !room)
        return session.send(failure_frame(request.id(), room.error()));
    ++session.in_flight;
    ++session.share->requests;
    if (handler_for(request.body_case()) == nullptr) {
        return finish(session, failure_frame(request.id(), fail(Errc::Unsupported).error));
    }
    log_.debug("{} from uid={}: request {}", request.command(), session.caller.uid,
               static_cast<int>(request.body_case()));
    log_.about(Log::Topic::Protocol, "{} from uid={}: request {}", request.command(),
               session.caller.uid, static_cast<int>(request.body_case()));
    handle(session, request);
}

// The request waits for the name service where it has to; others do not wait for it.
void Controller::handle(Session& session, const wire::Request& request) {
    if (const Status may = may_take_in(*this, request.body_case()); !may)
        return finish(session, failure_frame(request.id(), may.error()));
    const NeededNames needed =
        needed_names(request, session, is_operator(session.caller), *cluster_, figures_, names_);
    if (!names_.has(needed.keys)) {
        return names_.when_known(needed.keys,
                                 [this, id = session.id, request, payload = std::move(arriving_)] {
                                     Session* asking = sessions_.find(id);
                                     if (asking == nullptr) return;
                                     arriving_ = payload;
                                     handle(*asking, request);
                                 });
    }
    const auto answered = [&](const NameKey& key) { return names_.is_answered(key); };
    if (needed.required && !std::ranges::all_of(needed.keys, answered))
        return finish(session, failure_frame(request.id(), fail(Errc::Timeout, kNoNames).error));
    names_.look_up_soon(needed.soon);
    const Handler handler = handler_for(request.body_case());
    const std::uint32_t uid = session.caller.uid;
    const auto begin = std::chrono::steady_clock::now();
    handler(*this, session, request);
    figures_.add_request(
        static_cast<int>(request.body_case()), uid,
        std::chrono::duration_cast<Figures::Micros>(std::chrono::steady_clock::now() - begin));
}

void Controller::on_session_gone(Session& session, bool path_broke) {
    for (const std::uint64_t token : session.tokens) {
        waiting_.erase(token);
        step(core::event::TokenGone{.token = core::Token{token}, .may_return = path_broke});
    }
}

core::Token Controller::ask(Session& session, std::uint64_t request, Held held) {
    const core::Token token{++last_token_};
    waiting_.emplace(token.value, Waiting{session.id, request, std::move(held)});
    session.tokens.insert(token.value);
    return token;
}

void Controller::withdraw(core::Token token) {
    const auto it = waiting_.find(token.value);
    if (it == waiting_.end()) return;
    if (Session* session = sessions_.find(it->second.session)) session->tokens.erase(token.value);
    waiting_.erase(it);
}

void Controller::finish(Session& session, const std::string& frame) {
    if (session.in_flight > 0) {
        --session.in_flight;
        --session.share->requests;
    }
    session.send(frame);
}

void Controller::finish(SessionId id, const std::string& frame) {
    if (Session* session = sessions_.find(id)) finish(*session, frame);
}

bool Controller::is_operator(const core::Caller& caller) const {
    return caller.uid == 0 || caller.uid == cluster_->settings().operator_uid;
}

}  // namespace switchyard::controller
