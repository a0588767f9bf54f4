// diag.cpp: the figures that sdiag shows.
#include <algorithm>

#include "controller/links/replies.hpp"
#include "controller/queries/folded_job.hpp"
#include "controller/requests/requests.hpp"
#include "wire/codec.hpp"

namespace switchyard::controller {
namespace {

std::int64_t millis(Instant instant) { return instant.time_since_epoch().count(); }

// What Slurm calls our requests, and the numbers it gives them.
struct RequestName {
    wire::Request::BodyCase body;
    std::uint32_t number;
    const char* name;
};
using Body = wire::Request::BodyCase;
constexpr RequestName kNames[] = {
    {Body::kSubmit, 4003, "REQUEST_SUBMIT_BATCH_JOB"},
    {Body::kAttach, 4014, "REQUEST_JOB_ALLOCATION_INFO"},
    {Body::kCreateStep, 5001, "REQUEST_JOB_STEP_CREATE"},
    {Body::kWait, 4019, "REQUEST_JOB_READY"},
    {Body::kSignal, 5032, "REQUEST_KILL_JOB"},
    {Body::kUpdateJob, 3001, "REQUEST_UPDATE_JOB"},
    {Body::kHold, 3001, "REQUEST_UPDATE_JOB"},
    {Body::kTop, 5038, "REQUEST_TOP_JOB"},
    {Body::kRequeue, 5023, "REQUEST_JOB_REQUEUE"},
    {Body::kSuspend, 5014, "REQUEST_SUSPEND"},
    {Body::kUpdateNode, 3002, "REQUEST_UPDATE_NODE"},
    {Body::kUpdatePartition, 3005, "REQUEST_UPDATE_PARTITION"},
    {Body::kJobs, 2003, "REQUEST_JOB_INFO"},
    {Body::kNodes, 2007, "REQUEST_NODE_INFO"},
    {Body::kPartitions, 2009, "REQUEST_PARTITION_INFO"},
    {Body::kScript, 2051, "REQUEST_BATCH_SCRIPT"},
    {Body::kPids, 5004, "REQUEST_JOB_STEP_STAT"},
    {Body::kConfig, 2001, "REQUEST_BUILD_INFO"},
    {Body::kPing, 1008, "REQUEST_PING"},
    {Body::kDiag, 2035, "REQUEST_STATS_INFO"},
    {Body::kReconfigure, 1003, "REQUEST_RECONFIGURE"},
    {Body::kShutdown, 1005, "REQUEST_SHUTDOWN"},
    {Body::kUpdateReservation, 3009, "REQUEST_UPDATE_RESERVATION"},
    {Body::kReservations, 2024, "REQUEST_RESERVATION_INFO"},
    {Body::kLicenses, 1021, "REQUEST_LICENSE_INFO"},
    {Body::kRelease, 5017, "REQUEST_COMPLETE_JOB_ALLOCATION"},
};

void add_requests(const Figures& figures, const Names& names, wire::DiagReply* out) {
    std::map<std::pair<std::uint32_t, std::string>, Figures::Calls> by_name;
    for (const auto& [body, calls] : figures.by_request) {
        const auto known = std::ranges::find(kNames, static_cast<Body>(body), &RequestName::body);
        auto key = std::pair(static_cast<std::uint32_t>(body), "REQUEST_" + std::to_string(body));
        if (known != std::end(kNames)) key = {known->number, known->name};
        by_name[key].count += calls.count;
        by_name[key].total_us += calls.total_us;
    }
    for (const auto& [key, calls] : by_name) {
        wire::DiagRpc& entry = *out->add_rpcs();
        entry.set_number(key.first);
        entry.set_name(key.second);
        entry.set_count(calls.count);
        entry.set_total_us(calls.total_us);
    }
    for (const auto& [uid, calls] : figures.by_user) {
        wire::DiagUser& entry = *out->add_users();
        entry.set_uid(uid);
        entry.set_user(names.name_of(uid));
        entry.set_count(calls.count);
        entry.set_total_us(calls.total_us);
    }
}

void add_jobs(const core::Cluster& cluster, wire::DiagReply* out) {
    std::uint64_t pending = 0, running = 0;
    for (auto at = cluster.jobs().begin(); at != cluster.jobs().end(); ++at) {
        if (const std::string_view folded = at.folded(); !folded.empty()) {
            const FoldedJob job = look_at_folded(folded);
            running += job.running ? 1 : 0;
            if (!job.pending) continue;
            if (!job.in_array) {
                ++pending;
                continue;
            }
        }
        const model::Job& job = at->second;
        running += std::holds_alternative<model::Running>(job.phase) ? 1 : 0;
        if (!std::holds_alternative<model::Pending>(job.phase)) continue;
        pending += job.array && !job.array->element ? job.array->pending.size() : 1;
    }
    out->set_jobs_pending(pending);
    out->set_jobs_running(running);
}

void add_scheduling(const core::SchedulerFigures& core, const Figures& own, wire::DiagReply* out) {
    const core::SchedulerFigures& before = own.before;
    out->set_main_cycles(core.main_cycles - before.main_cycles);
    out->set_backfill_cycles(core.backfill_cycles - before.backfill_cycles);
    out->set_jobs_submitted(core.jobs_submitted - before.jobs_submitted);
    out->set_jobs_started(core.jobs_started - before.jobs_started);
    out->set_jobs_completed(core.jobs_completed - before.jobs_completed);
    out->set_jobs_cancelled(core.jobs_cancelled - before.jobs_cancelled);
    out->set_jobs_failed(core.jobs_failed - before.jobs_failed);
    out->set_jobs_backfilled(core.jobs_backfilled - before.jobs_backfilled);
    out->set_jobs_backfilled_ever(core.jobs_backfilled);
    out->set_last_depth(core.last_depth);
    out->set_last_backfill_depth(core.last_backfill_depth);
    out->set_total_depth(core.total_depth - before.total_depth);
    out->set_total_backfill_depth(core.total_backfill_depth - before.total_backfill_depth);
    out->set_queue_length(core.queue_length);
    out->set_backfill_queue_length(core.backfill_queue_length);
    out->set_total_backfill_queue_length(core.total_backfill_queue_length -
                                         before.total_backfill_queue_length);
    out->set_table_size(core.table_size);
    out->set_total_table_size(core.total_table_size - before.total_table_size);
    out->set_last_cycle_us(own.last_cycle_us);
    out->set_max_cycle_us(own.max_cycle_us);
    out->set_total_cycle_us(own.total_cycle_us);
    out->set_last_backfill_us(own.last_backfill_us);
    out->set_max_backfill_us(own.max_backfill_us);
    out->set_total_backfill_us(own.total_backfill_us);
    if (own.last_backfill != Instant{}) out->set_last_backfill_at(millis(own.last_backfill));
}

}  // namespace

void handle_diag(AdminContext& context, Session& session, const wire::Request& request) {
    if (request.diag().reset()) {
        if (!context.cluster.rights_of(session.caller).may_administer()) {
            return context.calls.refuse(session, request.id(), fail(Errc::AccessDenied).error);
        }
        context.figures.reset(context.now(), context.cluster.figures());
        return context.calls.finish(session, done_frame(request.id()));
    }
    const Figures& own = context.figures;
    wire::Reply reply;
    reply.set_id(request.id());
    reply.set_last(true);
    wire::DiagReply* out = reply.mutable_diag();
    add_scheduling(context.cluster.figures(), own, out);
    add_jobs(context.cluster, out);
    add_requests(own, context.names, out);
    out->set_connections(context.sessions.count() + context.agents.count());
    out->set_agents(context.agents.count());
    out->set_requests(own.requests);
    out->set_started(millis(own.started));
    out->set_since(millis(own.since));
    out->set_now(millis(context.now()));
    context.calls.finish(session, reply.SerializeAsString());
}

}  // namespace switchyard::controller
