#include "cli/accounting/diag_document.hpp"

#include <algorithm>

#include "wire/proto/request.pb.h"

namespace switchyard::cli::accounting {
namespace {

using format::Document;
using format::Number;

std::uint64_t mean(std::uint64_t total, std::uint64_t count) {
    return count == 0 ? 0 : total / count;
}

void integer(Document& document, std::string_view key, std::uint64_t value) {
    document.integer(key, static_cast<std::int64_t>(value));
}

void moment(Document& document, std::string_view key, std::int64_t millis) {
    document.number(key, Number::of(static_cast<std::uint64_t>(millis / 1000)));
}

void zeros(Document& document, std::string_view key, std::initializer_list<std::string_view> keys,
           std::string_view counted, std::uint64_t count) {
    document.begin_map(key);
    integer(document, counted, count);
    for (const std::string_view each : keys) integer(document, each, 0);
    document.end();
}

void write_jobs(Document& document, const wire::DiagReply& diag) {
    integer(document, "jobs_submitted", diag.jobs_submitted());
    integer(document, "jobs_started", diag.jobs_started());
    integer(document, "jobs_completed", diag.jobs_completed());
    integer(document, "jobs_canceled", diag.jobs_cancelled());
    integer(document, "jobs_failed", diag.jobs_failed());
    integer(document, "jobs_pending", diag.jobs_pending());
    integer(document, "jobs_running", diag.jobs_running());
    moment(document, "job_states_ts", diag.now());
}

void write_schedule(Document& document, const wire::DiagReply& diag) {
    const std::uint64_t cycles = diag.main_cycles();
    const auto minutes =
        static_cast<std::uint64_t>(std::max<std::int64_t>(diag.now() - diag.since(), 0)) / 60'000;
    integer(document, "schedule_cycle_max", diag.max_cycle_us());
    integer(document, "schedule_cycle_last", diag.last_cycle_us());
    integer(document, "schedule_cycle_sum", diag.total_cycle_us());
    integer(document, "schedule_cycle_total", cycles);
    integer(document, "schedule_cycle_mean", mean(diag.total_cycle_us(), cycles));
    integer(document, "schedule_cycle_mean_depth", mean(diag.total_depth(), cycles));
    integer(document, "schedule_cycle_per_minute", minutes == 0 ? cycles : cycles / minutes);
    integer(document, "schedule_cycle_depth", diag.total_depth());
    zeros(document, "schedule_exit",
          {"default_queue_depth", "max_job_start", "max_rpc_cnt", "max_sched_time", "licenses"},
          "end_job_queue", cycles);
    integer(document, "schedule_queue_length", diag.queue_length());
}

void write_backfill(Document& document, const wire::DiagReply& diag) {
    const std::uint64_t cycles = diag.backfill_cycles();
    integer(document, "bf_backfilled_jobs", diag.jobs_backfilled_ever());
    integer(document, "bf_last_backfilled_jobs", diag.jobs_backfilled());
    integer(document, "bf_backfilled_het_jobs", 0);
    integer(document, "bf_cycle_counter", cycles);
    integer(document, "bf_cycle_mean", mean(diag.total_backfill_us(), cycles));
    integer(document, "bf_depth_mean", mean(diag.total_backfill_depth(), cycles));
    integer(document, "bf_depth_mean_try", mean(diag.total_backfill_depth(), cycles));
    integer(document, "bf_cycle_sum", diag.total_backfill_us());
    integer(document, "bf_cycle_last", diag.last_backfill_us());
    integer(document, "bf_cycle_max", diag.max_backfill_us());
    zeros(document, "bf_exit",
          {"bf_max_job_start", "bf_max_job_test", "bf_max_time", "bf_node_space_size",
           "state_changed"},
          "end_job_queue", cycles);
    integer(document, "bf_last_depth", diag.last_backfill_depth());
    integer(document, "bf_last_depth_try", diag.last_backfill_depth());
    integer(document, "bf_depth_sum", diag.total_backfill_depth());
    integer(document, "bf_depth_try_sum", diag.total_backfill_depth());
    integer(document, "bf_queue_len", diag.backfill_queue_length());
    integer(document, "bf_queue_len_mean", mean(diag.total_backfill_queue_length(), cycles));
    integer(document, "bf_queue_len_sum", diag.total_backfill_queue_length());
    integer(document, "bf_table_size", diag.table_size());
    integer(document, "bf_table_size_sum", diag.total_table_size());
    integer(document, "bf_table_size_mean", mean(diag.total_table_size(), cycles));
    moment(document, "bf_when_last_cycle", diag.last_backfill_at());
    document.boolean("bf_active", false);
}

void write_requests(Document& document, const wire::DiagReply& diag) {
    document.begin_list("rpcs_by_message_type");
    for (const wire::DiagRpc& rpc : diag.rpcs()) {
        document.begin_map();
        document.integer("type_id", rpc.number());
        document.text("message_type", rpc.name());
        integer(document, "count", rpc.count());
        integer(document, "queued", 0);
        integer(document, "dropped", 0);
        integer(document, "cycle_last", 0);
        integer(document, "cycle_max", 0);
        integer(document, "total_time", rpc.total_us());
        document.number("average_time", Number::of(mean(rpc.total_us(), rpc.count())));
        document.end();
    }
    document.end();
    document.begin_list("rpcs_by_user");
    for (const wire::DiagUser& user : diag.users()) {
        document.begin_map();
        document.integer("user_id", user.uid());
        document.text("user", user.user());
        integer(document, "count", user.count());
        integer(document, "total_time", user.total_us());
        document.number("average_time", Number::of(mean(user.total_us(), user.count())));
        document.end();
    }
    document.end();
    document.begin_list("pending_rpcs");
    document.end();
    document.begin_list("pending_rpcs_by_hostlist");
    document.end();
}

}  // namespace

void print_diag(const wire::DiagReply& diag, const DocumentWish& wish, const std::string& cluster) {
    Document document = open_document(wish);
    document.begin_map("statistics");
    moment(document, "req_time", diag.now());
    moment(document, "req_time_start", diag.since());
    integer(document, "server_thread_count", 1);
    integer(document, "agent_queue_size", 0);
    integer(document, "agent_count", 0);
    integer(document, "agent_thread_count", 0);
    integer(document, "dbd_agent_queue_size", 0);
    integer(document, "gettimeofday_latency", 0);
    write_schedule(document, diag);
    write_jobs(document, diag);
    write_backfill(document, diag);
    write_requests(document, diag);
    document.end();
    close_document(document, wish, cluster);
}

}  // namespace switchyard::cli::accounting
