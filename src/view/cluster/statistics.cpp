#include "view/cluster/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <vector>

namespace switchyard::view {
namespace {

using model::Statistics;

std::uint64_t mean(std::uint64_t total, std::uint64_t count) {
    return count == 0 ? 0 : total / count;
}

std::uint64_t per_minute(const Statistics& s) {
    const auto minutes = std::chrono::floor<Minutes>(std::max(s.now - s.since, Millis{0})).count();
    return minutes == 0 ? s.main.count : s.main.count / static_cast<std::uint64_t>(minutes);
}

// "Sun Nov 15 01:44:24 2026 (1794707064)"
std::string moment(Instant when) {
    const std::time_t seconds = unix_seconds(when);
    std::tm parts{};
    ::localtime_r(&seconds, &parts);
    char text[64] = {};
    std::strftime(text, sizeof text, "%a %b %d %H:%M:%S %Y", &parts);
    return fmt::format("{} ({})", text, seconds);
}

std::string head_text(const Statistics& s) {
    const std::string stars(55, '*');
    return fmt::format(
        "{0}\nsdiag output at {1}\nData since      {2}\n{0}\n"
        "Server thread count:  1\nRPC queue enabled:    0\nAgent queue size:     0\n"
        "Agent count:          0\nAgent thread count:   0\nDBD Agent queue size: 0\n\n"
        "Jobs submitted: {3}\nJobs started:   {4}\nJobs completed: {5}\nJobs canceled:  {6}\n"
        "Jobs failed:    {7}\n\nJob states ts:  {1}\nJobs pending:   {8}\nJobs running:   {9}\n",
        stars, moment(s.now), moment(s.since), s.jobs_submitted, s.jobs_started, s.jobs_completed,
        s.jobs_cancelled, s.jobs_failed, s.jobs_pending, s.jobs_running);
}

std::string main_text(const Statistics& s) {
    return fmt::format(
        "\nMain schedule statistics (microseconds):\n\tLast cycle:   {}\n\tMax cycle:    {}\n"
        "\tTotal cycles: {}\n\tMean cycle:   {}\n\tMean depth cycle:  {}\n"
        "\tCycles per minute: {}\n\tLast queue length: {}\n"
        "\nMain scheduler exit:\n\tEnd of job queue:{:2}\n\tHit default_queue_depth: 0\n"
        "\tHit sched_max_job_start: 0\n\tBlocked on licenses: 0\n\tHit max_rpc_cnt: 0\n"
        "\tTimeout (max_sched_time): 0\n",
        s.main.last_us, s.main.max_us, s.main.count, mean(s.main.total_us, s.main.count),
        mean(s.main.total_depth, s.main.count), per_minute(s), s.main.queue_length, s.main.count);
}

std::string backfill_text(const Statistics& s) {
    const std::uint64_t cycles = s.backfill.count;
    std::string text = fmt::format(
        "\nBackfilling stats\n"
        "\tTotal backfilled jobs (since last slurm start): {}\n"
        "\tTotal backfilled jobs (since last stats cycle start): {}\n"
        "\tTotal backfilled heterogeneous job components: 0\n\tTotal cycles: {}\n",
        s.backfilled_ever, s.backfilled, cycles);
    text += s.last_backfill ? fmt::format("\tLast cycle when: {}\n", moment(*s.last_backfill))
                            : std::string("\tLast cycle when: N/A\n");
    text += fmt::format(
        "\tLast cycle: {}\n\tMax cycle:  {}\n\tMean cycle: {}\n\tLast depth cycle: {}\n"
        "\tLast depth cycle (try sched): {}\n\tDepth Mean: {}\n\tDepth Mean (try depth): {}\n"
        "\tLast queue length: {}\n\tQueue length mean: {}\n\tLast table size: {}\n"
        "\tMean table size: {}\n",
        s.backfill.last_us, s.backfill.max_us, mean(s.backfill.total_us, cycles),
        s.backfill.last_depth, s.backfill.last_depth, mean(s.backfill.total_depth, cycles),
        mean(s.backfill.total_depth, cycles), s.backfill.queue_length,
        mean(s.backfill.total_queue, cycles), s.table_size, mean(s.total_table_size, cycles));
    text += fmt::format(
        "\nBackfill exit\n\tEnd of job queue:{:2}\n\tHit bf_max_job_start: 0\n"
        "\tHit bf_max_job_test: 0\n\tSystem state changed: 0\n"
        "\tHit table size limit (bf_node_space_size): 0\n\tTimeout (bf_max_time): 0\n",
        cycles);
    return text;
}

bool comes_before(RequestOrder order, const model::RequestStatistics& a,
                  const model::RequestStatistics& b) {
    switch (order) {
        case RequestOrder::ById:
            return a.number < b.number;
        case RequestOrder::ByTotalTime:
            return a.total_us > b.total_us;
        case RequestOrder::ByMeanTime:
            return mean(a.total_us, a.count) > mean(b.total_us, b.count);
        case RequestOrder::ByCount:
            return a.count > b.count;
    }
    return false;
}

std::string requests_text(const Statistics& s, RequestOrder order, std::int64_t clock_us) {
    std::string text = fmt::format(
        "\nLatency for 1000 calls to gettimeofday(): {} microseconds\n"
        "\nRemote Procedure Call statistics by message type\n",
        clock_us);
    std::vector<model::RequestStatistics> rpcs = s.requests;
    std::ranges::sort(rpcs,
                      [&](const auto& a, const auto& b) { return comes_before(order, a, b); });
    for (const model::RequestStatistics& rpc : rpcs) {
        text += fmt::format("\t{:<40}({:5}) count:{:<6} ave_time:{:<6} total_time:{}\n", rpc.name,
                            rpc.number, rpc.count, mean(rpc.total_us, rpc.count), rpc.total_us);
    }
    text += "\nRemote Procedure Call statistics by user\n";
    std::vector<model::UserStatistics> users = s.users;
    std::ranges::sort(users, std::greater{}, &model::UserStatistics::count);
    for (const model::UserStatistics& user : users) {
        text += fmt::format("\t{:<16}({:8}) count:{:<6} ave_time:{:<6} total_time:{}\n", user.user,
                            user.uid, user.count, mean(user.total_us, user.count), user.total_us);
    }
    text += "\nPending RPC statistics\n\tNo pending RPCs\n";
    return text;
}

void integer(Document& document, std::string_view key, std::uint64_t value) {
    document.integer(key, static_cast<std::int64_t>(value));
}

void write_moment(Document& document, std::string_view key, Instant when) {
    document.number(key, Number::of(static_cast<std::uint64_t>(unix_seconds(when))));
}

void zeros(Document& document, std::string_view key, std::initializer_list<std::string_view> keys,
           std::string_view counted, std::uint64_t count) {
    document.begin_map(key);
    integer(document, counted, count);
    for (const std::string_view each : keys) integer(document, each, 0);
    document.end();
}

void write_jobs(Document& document, const Statistics& s) {
    integer(document, "jobs_submitted", s.jobs_submitted);
    integer(document, "jobs_started", s.jobs_started);
    integer(document, "jobs_completed", s.jobs_completed);
    integer(document, "jobs_canceled", s.jobs_cancelled);
    integer(document, "jobs_failed", s.jobs_failed);
    integer(document, "jobs_pending", s.jobs_pending);
    integer(document, "jobs_running", s.jobs_running);
    write_moment(document, "job_states_ts", s.now);
}

void write_schedule(Document& document, const Statistics& s) {
    const std::uint64_t cycles = s.main.count;
    integer(document, "schedule_cycle_max", s.main.max_us);
    integer(document, "schedule_cycle_last", s.main.last_us);
    integer(document, "schedule_cycle_sum", s.main.total_us);
    integer(document, "schedule_cycle_total", cycles);
    integer(document, "schedule_cycle_mean", mean(s.main.total_us, cycles));
    integer(document, "schedule_cycle_mean_depth", mean(s.main.total_depth, cycles));
    integer(document, "schedule_cycle_per_minute", per_minute(s));
    integer(document, "schedule_cycle_depth", s.main.total_depth);
    zeros(document, "schedule_exit",
          {"default_queue_depth", "max_job_start", "max_rpc_cnt", "max_sched_time", "licenses"},
          "end_job_queue", cycles);
    integer(document, "schedule_queue_length", s.main.queue_length);
}

void write_backfill(Document& document, const Statistics& s) {
    const std::uint64_t cycles = s.backfill.count;
    integer(document, "bf_backfilled_jobs", s.backfilled_ever);
    integer(document, "bf_last_backfilled_jobs", s.backfilled);
    integer(document, "bf_backfilled_het_jobs", 0);
    integer(document, "bf_cycle_counter", cycles);
    integer(document, "bf_cycle_mean", mean(s.backfill.total_us, cycles));
    integer(document, "bf_depth_mean", mean(s.backfill.total_depth, cycles));
    integer(document, "bf_depth_mean_try", mean(s.backfill.total_depth, cycles));
    integer(document, "bf_cycle_sum", s.backfill.total_us);
    integer(document, "bf_cycle_last", s.backfill.last_us);
    integer(document, "bf_cycle_max", s.backfill.max_us);
    zeros(document, "bf_exit",
          {"bf_max_job_start", "bf_max_job_test", "bf_max_time", "bf_node_space_size",
           "state_changed"},
          "end_job_queue", cycles);
    integer(document, "bf_last_depth", s.backfill.last_depth);
    integer(document, "bf_last_depth_try", s.backfill.last_depth);
    integer(document, "bf_depth_sum", s.backfill.total_depth);
    integer(document, "bf_depth_try_sum", s.backfill.total_depth);
    integer(document, "bf_queue_len", s.backfill.queue_length);
    integer(document, "bf_queue_len_mean", mean(s.backfill.total_queue, cycles));
    integer(document, "bf_queue_len_sum", s.backfill.total_queue);
    integer(document, "bf_table_size", s.table_size);
    integer(document, "bf_table_size_sum", s.total_table_size);
    integer(document, "bf_table_size_mean", mean(s.total_table_size, cycles));
    write_moment(document, "bf_when_last_cycle", s.last_backfill.value_or(Instant{}));
    document.boolean("bf_active", false);
}

void write_requests(Document& document, const Statistics& s) {
    document.begin_list("rpcs_by_message_type");
    for (const model::RequestStatistics& rpc : s.requests) {
        document.begin_map();
        document.integer("type_id", rpc.number);
        document.text("message_type", rpc.name);
        integer(document, "count", rpc.count);
        integer(document, "queued", 0);
        integer(document, "dropped", 0);
        integer(document, "cycle_last", 0);
        integer(document, "cycle_max", 0);
        integer(document, "total_time", rpc.total_us);
        document.number("average_time", Number::of(mean(rpc.total_us, rpc.count)));
        document.end();
    }
    document.end();
    document.begin_list("rpcs_by_user");
    for (const model::UserStatistics& user : s.users) {
        document.begin_map();
        document.integer("user_id", user.uid);
        document.text("user", user.user);
        integer(document, "count", user.count);
        integer(document, "total_time", user.total_us);
        document.number("average_time", Number::of(mean(user.total_us, user.count)));
        document.end();
    }
    document.end();
    document.begin_list("pending_rpcs");
    document.end();
    document.begin_list("pending_rpcs_by_hostlist");
    document.end();
}

}  // namespace

std::string statistics_text(const Statistics& s, RequestOrder order, std::int64_t clock_us) {
    return head_text(s) + main_text(s) + backfill_text(s) + requests_text(s, order, clock_us);
}

void write_statistics(Document& document, const Statistics& s) {
    document.begin_map("statistics");
    write_moment(document, "req_time", s.now);
    write_moment(document, "req_time_start", s.since);
    integer(document, "server_thread_count", 1);
    integer(document, "agent_queue_size", 0);
    integer(document, "agent_count", 0);
    integer(document, "agent_thread_count", 0);
    integer(document, "dbd_agent_queue_size", 0);
    integer(document, "gettimeofday_latency", 0);
    write_schedule(document, s);
    write_jobs(document, s);
    write_backfill(document, s);
    write_requests(document, s);
    document.end();
}

}  // namespace switchyard::view
