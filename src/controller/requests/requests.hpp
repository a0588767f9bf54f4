// requests.hpp: the handlers of requests, one file per family. Each translates a message into an
// event for the core, or does what administrators ask of the daemons; none decides.
#pragma once

#include "controller/requests/request_context.hpp"

namespace switchyard::wire {
class Request;
}

namespace switchyard::controller {

// submit.cpp
void handle_submit(RequestContext& context, Session& session, const wire::Request& request);
void handle_attach(RequestContext& context, Session& session, const wire::Request& request);
void handle_release(RequestContext& context, Session& session, const wire::Request& request);
void handle_wait(RequestContext& context, Session& session, const wire::Request& request);

// steps.cpp, crontab.cpp
void handle_create_step(RequestContext& context, Session& session, const wire::Request& request);
void handle_notify(RequestContext& context, Session& session, const wire::Request& request);
void handle_wait_steps(RequestContext& context, Session& session, const wire::Request& request);
void handle_crontab(RequestContext& context, Session& session, const wire::Request& request);

// update.cpp
void handle_signal(RequestContext& context, Session& session, const wire::Request& request);
void handle_update_job(RequestContext& context, Session& session, const wire::Request& request);
void handle_hold(RequestContext& context, Session& session, const wire::Request& request);
void handle_requeue(RequestContext& context, Session& session, const wire::Request& request);
void handle_suspend(RequestContext& context, Session& session, const wire::Request& request);
void handle_top(RequestContext& context, Session& session, const wire::Request& request);

// update_node.cpp, update_partition.cpp, update_reservation.cpp, triggers.cpp
void handle_update_node(RequestContext& context, Session& session, const wire::Request& request);
void handle_reboot(RequestContext& context, Session& session, const wire::Request& request);
void handle_update_partition(RequestContext& context, Session& session,
                             const wire::Request& request);
void handle_update_reservation(RequestContext& context, Session& session,
                               const wire::Request& request);
void handle_set_triggers(RequestContext& context, Session& session, const wire::Request& request);
void handle_clear_triggers(RequestContext& context, Session& session, const wire::Request& request);

// admin.cpp, diag.cpp, log_request.cpp, token.cpp
void handle_config(AdminContext& context, Session& session, const wire::Request& request);
void handle_ping(AdminContext& context, Session& session, const wire::Request& request);
void handle_diag(AdminContext& context, Session& session, const wire::Request& request);
void handle_reconfigure(AdminContext& context, Session& session, const wire::Request& request);
void handle_shutdown(AdminContext& context, Session& session, const wire::Request& request);
// True if the caller is an operator; otherwise they are told.
bool allowed(AdminContext& context, Session& session, const wire::Request& request);
void handle_log(AdminContext& context, Session& session, const wire::Request& request);
void handle_token(AdminContext& context, Session& session, const wire::Request& request);

}  // namespace switchyard::controller
