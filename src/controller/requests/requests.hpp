// requests.hpp: the handlers, one file per family. Each translates a message into an event for the
// core or into an answer; none decides.
#pragma once

#include "controller/turn/controller.hpp"

namespace switchyard::wire {
class Request;
}

namespace switchyard::controller {

// submit.cpp
void handle_submit(Controller& controller, Session& session, const wire::Request& request);
void handle_attach(Controller& controller, Session& session, const wire::Request& request);
void handle_release(Controller& controller, Session& session, const wire::Request& request);
void handle_wait(Controller& controller, Session& session, const wire::Request& request);

// steps.cpp
void handle_create_step(Controller& controller, Session& session, const wire::Request& request);
void handle_pids(Controller& controller, Session& session, const wire::Request& request);
void handle_attach_step(Controller& controller, Session& session, const wire::Request& request);
void handle_notify(Controller& controller, Session& session, const wire::Request& request);
void handle_wait_steps(Controller& controller, Session& session, const wire::Request& request);
void handle_crontab(Controller& controller, Session& session, const wire::Request& request);

// update.cpp
void handle_signal(Controller& controller, Session& session, const wire::Request& request);
void handle_update_job(Controller& controller, Session& session, const wire::Request& request);
void handle_hold(Controller& controller, Session& session, const wire::Request& request);
void handle_requeue(Controller& controller, Session& session, const wire::Request& request);
void handle_suspend(Controller& controller, Session& session, const wire::Request& request);
void handle_top(Controller& controller, Session& session, const wire::Request& request);

// nodes.cpp, partitions.cpp
void handle_nodes(Controller& controller, Session& session, const wire::Request& request);
void handle_update_node(Controller& controller, Session& session, const wire::Request& request);
void handle_reboot(Controller& controller, Session& session, const wire::Request& request);
void handle_partitions(Controller& controller, Session& session, const wire::Request& request);
void handle_update_partition(Controller& controller, Session& session,
                             const wire::Request& request);

// reservations.cpp
void handle_update_reservation(Controller& controller, Session& session,
                               const wire::Request& request);
void handle_reservations(Controller& controller, Session& session, const wire::Request& request);
void handle_licenses(Controller& controller, Session& session, const wire::Request& request);

// jobs_query.cpp
void handle_jobs(Controller& controller, Session& session, const wire::Request& request);
void handle_script(Controller& controller, Session& session, const wire::Request& request);

// admin.cpp
void handle_config(Controller& controller, Session& session, const wire::Request& request);
void handle_ping(Controller& controller, Session& session, const wire::Request& request);
void handle_diag(Controller& controller, Session& session, const wire::Request& request);
void handle_reconfigure(Controller& controller, Session& session, const wire::Request& request);
void handle_shutdown(Controller& controller, Session& session, const wire::Request& request);
// True if the caller is an operator; otherwise they are told.
bool allowed(Controller& controller, Session& session, const wire::Request& request);

// log_request.cpp, token.cpp, triggers.cpp
void handle_log(Controller& controller, Session& session, const wire::Request& request);
void handle_token(Controller& controller, Session& session, const wire::Request& request);
void handle_triggers(Controller& controller, Session& session, const wire::Request& request);
void handle_set_triggers(Controller& controller, Session& session, const wire::Request& request);
void handle_clear_triggers(Controller& controller, Session& session, const wire::Request& request);

}  // namespace switchyard::controller
