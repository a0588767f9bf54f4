// calls.cpp: one function per question, values of src/model in and out.
#include <malloc.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "client/client.hpp"
#include "wire/codec.hpp"
#include "wire/fields.hpp"
#include "wire/job_line.hpp"

namespace switchyard::client {
namespace {

constexpr Millis kAnswerTimeout{100'000};
constexpr int kJobsPerChunk = 64;

void put_strings(const std::vector<std::string>& from,
                 google::protobuf::RepeatedPtrField<std::string>* to) {
    for (const std::string& each : from) *to->Add() = each;
}

template <class Message>
void put_selectors(const std::vector<model::JobSelector>& from, Message* to) {
    for (const model::JobSelector& each : from) wire::encode(each, to->add_jobs());
}

void encode_filter(const model::JobFilter& from, wire::JobFilter* to) {
    put_selectors(from.jobs, to);
    for (const std::uint32_t uid : from.uids) to->add_uids(uid);
    put_strings(from.names, to->mutable_names());
    put_strings(from.partitions, to->mutable_partitions());
    put_strings(from.accounts, to->mutable_accounts());
    put_strings(from.qos, to->mutable_qos());
    put_strings(from.nodes, to->mutable_nodes());
    put_strings(from.reservations, to->mutable_reservations());
    put_strings(from.wckeys, to->mutable_wckeys());
    for (const model::JobState state : from.states)
        to->add_states(static_cast<std::uint32_t>(state));
}

// A list that may come in several replies: each is given to `take`, until the last. The first is
// got by call(), which asks again if the controller is just restarting.
Status for_each_reply(Connection& connection, wire::Request& request,
                      const std::function<Status(const wire::Reply&)>& take) {
    SY_TRY(const wire::Reply first, connection.call(request));
    SY_CHECK(take(first));
    return first.last() ? Status{} : connection.receive_rest(first.id(), take);
}

// The replies to a request that was sent before.
Status take_replies(Connection& connection, std::uint64_t id,
                    const std::function<Status(const wire::Reply&)>& take) {
    for (;;) {
        SY_TRY(const wire::Reply reply, connection.receive_for(id, kAnswerTimeout));
        if (reply.has_failure()) return switchyard::Failure{error_of(reply)};
        SY_CHECK(take(reply));
        if (reply.last()) return {};
    }
}

Status add_nodes(const wire::Reply& reply, NodesAnswer& answer) {
    if (!reply.has_nodes()) return unexpected_answer();
    answer.now = Instant{Millis{reply.nodes().now()}};
    for (const wire::Node& each : reply.nodes().nodes()) {
        SY_TRY(model::Node node, wire::decode(each));
        answer.nodes.push_back(std::move(node));
    }
    return {};
}

Status add_partitions(const wire::Reply& reply, std::vector<model::Partition>& partitions) {
    if (!reply.has_partitions()) return unexpected_answer();
    for (const wire::Partition& each : reply.partitions().partitions()) {
        SY_TRY(model::Partition partition, wire::decode(each));
        partitions.push_back(std::move(partition));
    }
    return {};
}

// A long list is decoded and dropped chunk by chunk. Handed back to the kernel each time, the
// memory would have to be faulted in again, which costs more than the decoding.
void keep_freed_memory() {
    ::mallopt(M_TRIM_THRESHOLD, 1 << 30);
    ::mallopt(M_MMAP_THRESHOLD, 1 << 25);
    ::mallopt(M_MXFAST, 0);  // And do not consolidate fast bins for every large chunk.
}

Result<BulkAnswer> call_bulk(Connection& connection, wire::Request& request) {
    SY_TRY(const wire::Reply reply, connection.call(request));
    if (!reply.has_done()) return unexpected_answer();
    BulkAnswer answer;
    for (const wire::Problem& each : reply.done().problems()) {
        answer.problems.push_back({each.job(), static_cast<Errc>(each.code())});
    }
    answer.matched = reply.done().matched();
    answer.touched.assign(reply.done().touched().begin(), reply.done().touched().end());
    return answer;
}

// A reply of jobs, handed on in chunks that the processor's caches hold. Steps stay with their
// jobs, which may stand anywhere before them.
Status decode_chunks(const wire::JobsReply& from, const std::function<void(JobsChunk)>& each) {
    const int size = from.steps().empty() ? kJobsPerChunk : std::max(1, from.jobs_size());
    int done = 0;
    do {
        JobsChunk chunk;
        chunk.now = Instant{Millis{from.now()}};
        const int end = std::min(done + size, from.jobs_size());
        chunk.jobs.reserve(static_cast<std::size_t>(end - done));
        for (; done < end; ++done)
            SY_CHECK(wire::decode_into(from.jobs(done), chunk.jobs.emplace_back()));
        for (const wire::Step& step : from.steps()) {
            SY_TRY(model::Step decoded, wire::decode(step));
            chunk.steps.push_back(std::move(decoded));
        }
        each(std::move(chunk));
    } while (done < from.jobs_size());
    return {};
}

void encode_query(const JobsQuery& query, wire::JobsQuery* to) {
    encode_filter(query.filter, to->mutable_filter());
    to->set_all_states(query.all_states);
    to->set_with_steps(query.with_steps);
    to->set_history(query.history);
    if (query.history_from) to->set_history_from(query.history_from->time_since_epoch().count());
    if (query.history_to) to->set_history_to(query.history_to->time_since_epoch().count());
    to->set_past_runs(query.past_runs);
    to->set_one_job(query.one_job);
    to->set_hidden_partitions(query.hidden_partitions);
    to->set_states_only(query.states_only);
    to->set_brief(query.brief);
}

// The controller's clock stands before the jobs, or behind them.
Instant now_of(std::string_view reply) {
    wire::Fields fields(reply);
    for (wire::Field field; fields.next(field);) {
        if (field.number == wire::JobsReply::kNowFieldNumber)
            return Instant{Millis{static_cast<std::int64_t>(field.varint)}};
    }
    return {};
}

model::Statistics statistics_from(const wire::DiagReply& from) {
    model::Statistics to;
    to.now = Instant{Millis{from.now()}};
    to.since = Instant{Millis{from.since()}};
    to.jobs_submitted = from.jobs_submitted();
    to.jobs_started = from.jobs_started();
    to.jobs_completed = from.jobs_completed();
    to.jobs_cancelled = from.jobs_cancelled();
    to.jobs_failed = from.jobs_failed();
    to.jobs_pending = from.jobs_pending();
    to.jobs_running = from.jobs_running();
    to.main = {.count = from.main_cycles(),
               .last_us = from.last_cycle_us(),
               .max_us = from.max_cycle_us(),
               .total_us = from.total_cycle_us(),
               .last_depth = from.last_depth(),
               .total_depth = from.total_depth(),
               .queue_length = from.queue_length()};
    to.backfill = {.count = from.backfill_cycles(),
                   .last_us = from.last_backfill_us(),
                   .max_us = from.max_backfill_us(),
                   .total_us = from.total_backfill_us(),
                   .last_depth = from.last_backfill_depth(),
                   .total_depth = from.total_backfill_depth(),
                   .queue_length = from.backfill_queue_length(),
                   .total_queue = from.total_backfill_queue_length()};
    if (from.last_backfill_at() > 0) to.last_backfill = Instant{Millis{from.last_backfill_at()}};
    to.backfilled = from.jobs_backfilled();
    to.backfilled_ever = from.jobs_backfilled_ever();
    to.table_size = from.table_size();
    to.total_table_size = from.total_table_size();
    for (const wire::DiagRpc& each : from.rpcs())
        to.requests.push_back({each.name(), each.number(), each.count(), each.total_us()});
    for (const wire::DiagUser& each : from.users())
        to.users.push_back({each.uid(), each.user(), each.count(), each.total_us()});
    return to;
}

// One reply of a list, job by job.
Status list_reply(std::string_view reply, wire::JobLine& line,
                  const std::function<void(const model::Job&, Instant now)>& each) {
    const Instant now = now_of(reply);
    wire::Fields fields(reply);
    for (wire::Field field; fields.next(field);) {
        if (field.number != wire::JobsReply::kJobsFieldNumber) continue;
        SY_TRY(const model::Job* job, line.read(field.value));
        each(*job, now);
    }
    return fields.ok() ? Status{} : unexpected_answer();
}

}  // namespace

Status query_jobs(Connection& connection, const JobsQuery& query,
                  const std::function<void(JobsChunk)>& each) {
    keep_freed_memory();
    wire::Request request;
    encode_query(query, request.mutable_jobs());
    // The steps of one job may need several replies: those after the first have no jobs.
    std::optional<JobsChunk> unfinished;
    SY_CHECK(for_each_reply(connection, request, [&](const wire::Reply& reply) -> Status {
        if (!reply.has_jobs()) return unexpected_answer();
        if (!query.with_steps) return decode_chunks(reply.jobs(), each);
        return decode_chunks(reply.jobs(), [&](JobsChunk chunk) {
            if (unfinished && chunk.jobs.empty()) {
                std::ranges::move(chunk.steps, std::back_inserter(unfinished->steps));
                return;
            }
            if (unfinished) each(*std::move(unfinished));
            unfinished = std::move(chunk);
        });
    }));
    if (unfinished) each(*std::move(unfinished));
    return {};
}

Status list_jobs(Connection& connection, const JobsQuery& query,
                 const std::function<void(const model::Job&, Instant now)>& each) {
    keep_freed_memory();
    wire::Request request;
    encode_query(query, request.mutable_jobs());
    wire::JobLine line;
    return connection.call_for_jobs(
        request, [&](std::string_view reply) { return list_reply(reply, line, each); });
}

Result<JobsChunk> fetch_jobs(Connection& connection, const JobsQuery& query) {
    JobsChunk all;
    SY_CHECK(query_jobs(connection, query, [&](JobsChunk chunk) {
        all.now = chunk.now;
        std::ranges::move(chunk.jobs, std::back_inserter(all.jobs));
        std::ranges::move(chunk.steps, std::back_inserter(all.steps));
    }));
    return all;
}

Result<NodesAnswer> fetch_nodes(Connection& connection, const std::vector<std::string>& names,
                                bool conceal) {
    wire::Request request;
    request.mutable_nodes()->set_conceal(conceal);
    put_strings(names, request.mutable_nodes()->mutable_names());
    NodesAnswer answer;
    SY_CHECK(for_each_reply(connection, request,
                            [&](const wire::Reply& reply) { return add_nodes(reply, answer); }));
    return answer;
}

Result<std::vector<model::Partition>> fetch_partitions(Connection& connection) {
    wire::Request request;
    request.mutable_partitions();
    std::vector<model::Partition> partitions;
    SY_CHECK(for_each_reply(connection, request, [&](const wire::Reply& reply) {
        return add_partitions(reply, partitions);
    }));
    return partitions;
}

Result<ClusterAnswer> fetch_cluster(Connection& connection) {
    const auto both = [&]() -> Result<ClusterAnswer> {
        wire::Request partitions, nodes;
        partitions.mutable_partitions();
        nodes.mutable_nodes();
        SY_TRY(const std::uint64_t first, connection.send(partitions));
        SY_TRY(const std::uint64_t second, connection.send(nodes));
        ClusterAnswer answer;
        SY_CHECK(take_replies(connection, first, [&](const wire::Reply& reply) {
            return add_partitions(reply, answer.partitions);
        }));
        SY_CHECK(take_replies(connection, second, [&](const wire::Reply& reply) {
            return add_nodes(reply, answer.nodes);
        }));
        return answer;
    };
    auto answer = both();
    if (answer || answer.error().code != Errc::Unreachable) return answer;
    // The controller went away meanwhile: one after the other, each asked again if need be.
    ClusterAnswer again;
    SY_TRY(again.partitions, fetch_partitions(connection));
    SY_TRY(again.nodes, fetch_nodes(connection));
    return again;
}

Result<ReservationsAnswer> fetch_reservations(Connection& connection, const std::string& name) {
    wire::Request request;
    request.mutable_reservations()->set_name(name);
    ReservationsAnswer answer;
    SY_CHECK(for_each_reply(connection, request, [&](const wire::Reply& reply) -> Status {
        if (!reply.has_reservations()) return unexpected_answer();
        answer.now = Instant{Millis{reply.reservations().now()}};
        for (const wire::ReservationView& each : reply.reservations().reservations()) {
            SY_TRY(model::Reservation reservation, wire::decode(each.reservation()));
            answer.reservations.push_back({std::move(reservation), each.cores(), each.cpus()});
        }
        return {};
    }));
    return answer;
}

Result<std::vector<model::Trigger>> fetch_triggers(Connection& connection) {
    wire::Request request;
    request.mutable_triggers();
    std::vector<model::Trigger> triggers;
    SY_CHECK(for_each_reply(connection, request, [&](const wire::Reply& reply) -> Status {
        if (!reply.has_triggers()) return unexpected_answer();
        for (const wire::Trigger& each : reply.triggers().triggers()) {
            SY_TRY(model::Trigger trigger, wire::decode(each));
            triggers.push_back(std::move(trigger));
        }
        return {};
    }));
    return triggers;
}

Result<LicensesAnswer> fetch_licenses(Connection& connection) {
    wire::Request request;
    request.mutable_licenses();
    SY_TRY(const wire::Reply reply, connection.call(request));
    if (!reply.has_licenses()) return unexpected_answer();
    LicensesAnswer answer;
    answer.now = Instant{Millis{reply.licenses().now()}};
    for (const wire::LicenseUse& each : reply.licenses().licenses())
        answer.licenses.push_back({each.name(), each.total(), each.used(), each.reserved()});
    return answer;
}

Result<std::string> fetch_version(Connection& connection) {
    wire::Request request;
    request.mutable_ping();
    SY_TRY(const wire::Reply reply, connection.call(request));
    if (!reply.has_ping()) return unexpected_answer();
    const std::string& line = reply.ping().version();
    return line.substr(line.find(' ') + 1);
}

Result<model::Statistics> fetch_statistics(Connection& connection) {
    wire::Request request;
    request.mutable_diag();
    SY_TRY(const wire::Reply reply, connection.call(request));
    if (!reply.has_diag()) return unexpected_answer();
    return statistics_from(reply.diag());
}

Status reset_statistics(Connection& connection) {
    wire::Request request;
    request.mutable_diag()->set_reset(true);
    SY_TRY(const wire::Reply reply, connection.call(request));
    return reply.has_done() ? Status{} : unexpected_answer();
}

Result<BulkAnswer> signal_jobs(Connection& connection, const model::JobFilter& filter,
                               const SignalOptions& options) {
    wire::Request request;
    wire::SignalRequest* to = request.mutable_signal();
    encode_filter(filter, to->mutable_filter());
    to->set_signal(options.signal);
    to->set_batch_only(options.batch_only);
    to->set_full(options.full);
    to->set_hurry(options.hurry);
    if (!options.admin_comment.empty()) to->set_admin_comment(options.admin_comment);
    return call_bulk(connection, request);
}

Result<BulkAnswer> update_jobs(Connection& connection, const std::vector<model::JobSelector>& jobs,
                               const model::JobUpdate& update) {
    wire::Request request;
    put_selectors(jobs, request.mutable_update_job());
    wire::encode(update, request.mutable_update_job()->mutable_update());
    return call_bulk(connection, request);
}

Result<BulkAnswer> hold_jobs(Connection& connection, const std::vector<model::JobSelector>& jobs,
                             bool hold, bool as_user) {
    wire::Request request;
    put_selectors(jobs, request.mutable_hold());
    request.mutable_hold()->set_hold(hold);
    request.mutable_hold()->set_as_user(as_user);
    return call_bulk(connection, request);
}

Result<BulkAnswer> requeue_jobs(Connection& connection, const std::vector<model::JobSelector>& jobs,
                                const RequeueWish& wish) {
    wire::Request request;
    put_selectors(jobs, request.mutable_requeue());
    request.mutable_requeue()->set_hold(wish.hold);
    request.mutable_requeue()->set_incomplete_only(wish.incomplete_only);
    request.mutable_requeue()->set_special_exit(wish.special_exit);
    return call_bulk(connection, request);
}

Result<BulkAnswer> suspend_jobs(Connection& connection, const std::vector<model::JobSelector>& jobs,
                                bool resume) {
    wire::Request request;
    put_selectors(jobs, request.mutable_suspend());
    request.mutable_suspend()->set_resume(resume);
    return call_bulk(connection, request);
}

Result<BulkAnswer> top_jobs(Connection& connection, const std::vector<model::JobSelector>& jobs) {
    wire::Request request;
    put_selectors(jobs, request.mutable_top());
    return call_bulk(connection, request);
}

Status update_nodes(Connection& connection, const model::NodeUpdate& update) {
    wire::Request request;
    wire::encode(update, request.mutable_update_node());
    SY_TRY(const wire::Reply reply, connection.call(request));
    if (!reply.has_done()) return unexpected_answer();
    return {};
}

Status update_partition(Connection& connection, const model::PartitionUpdate& update) {
    wire::Request request;
    wire::encode(update, request.mutable_update_partition());
    SY_TRY(const wire::Reply reply, connection.call(request));
    if (!reply.has_done()) return unexpected_answer();
    return {};
}

Result<std::string> update_reservation(Connection& connection,
                                       const model::ReservationUpdate& update) {
    wire::Request request;
    wire::encode(update, request.mutable_update_reservation());
    SY_TRY(const wire::Reply reply, connection.call(request));
    if (reply.has_reservation_made()) return reply.reservation_made().name();
    if (!reply.has_done()) return unexpected_answer();
    return update.name;
}

}  // namespace switchyard::client
