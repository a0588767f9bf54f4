// queries.hpp: the handlers of queries.
#pragma once

#include "controller/queries/query_context.hpp"

namespace switchyard::wire {
class Request;
}

namespace switchyard::controller {

// jobs_query.cpp
void handle_jobs(QueryContext& context, Session& session, const wire::Request& request);
void handle_script(QueryContext& context, Session& session, const wire::Request& request);

// nodes.cpp, partitions.cpp, reservations.cpp, triggers.cpp
void handle_nodes(QueryContext& context, Session& session, const wire::Request& request);
void handle_partitions(QueryContext& context, Session& session, const wire::Request& request);
void handle_reservations(QueryContext& context, Session& session, const wire::Request& request);
void handle_licenses(QueryContext& context, Session& session, const wire::Request& request);
void handle_triggers(QueryContext& context, Session& session, const wire::Request& request);

// attach_step.cpp, pids.cpp: the agents are asked, or told.
void handle_attach_step(QueryContext& context, Session& session, const wire::Request& request);
void handle_pids(QueryContext& context, Session& session, const wire::Request& request);

}  // namespace switchyard::controller
