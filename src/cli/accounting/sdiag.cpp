// sdiag.cpp: how busy the controller is. What it has no counterpart of (threads that serve, queues
// to agents and to a database daemon) is zero, because there is none.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <vector>

#include "base/text.hpp"
#include "cli/accounting/diag_document.hpp"
#include "cli/commands.hpp"
#include "cli/message.hpp"
#include "cli/option_table.hpp"
#include "cli/output.hpp"
#include "cli/session.hpp"
#include "wire/codec.hpp"

namespace switchyard::cli::accounting {
namespace {

constexpr std::string_view kProgram = "sdiag";

struct Typed {
    bool reset = false, all = true, by_id = false, by_time = false, by_average = false;
    std::string clusters;
    DocumentWish document;
};

const Option<Typed> kOptions[] = {
    {{"all", 'a', Argument::None, "", "all figures (the default)"}, flag<&Typed::all>},
    {{"clusters", 'M', Argument::Required, "NAME", "the cluster to ask", "SLURM_CLUSTERS"},
     keep<&Typed::clusters>},
    {{.name = "cluster", .argument = Argument::Required, .same_as = "clusters"}},
    // Lines of requests that wait would be cut at 80 characters; there are none.
    {{.name = "no-trunc"}, nothing<Typed>},
    {{"reset", 'r', Argument::None, "", "begin to count anew"}, flag<&Typed::reset>},
    {{"sort-by-id", 'i', Argument::None, "", "requests by their number"}, flag<&Typed::by_id>},
    {{"sort-by-time", 't', Argument::None, "", "requests by the time they took in all"},
     flag<&Typed::by_time>},
    {{"sort-by-time2", 'T', Argument::None, "", "requests by the time one of them took"},
     flag<&Typed::by_average>},
    json_option<&Typed::document>(),
    json_layout_option<&Typed::document>(),
    yaml_layout_option<&Typed::document>(),
    yaml_option<&Typed::document>(),
};
constexpr CommandText kText{.program = kProgram,
                            .operands = {},
                            .purpose = "How busy the controller is.",
                            .footer = {},
                            .help_letter = 'h',
                            .takes_words = false};

std::uint64_t mean(std::uint64_t total, std::uint64_t count) {
    return count == 0 ? 0 : total / count;
}

// "Sun Nov 15 01:44:24 2026 (1794707064)"
std::string moment(std::int64_t millis) {
    const std::time_t seconds = millis / 1000;
    std::tm parts{};
    ::localtime_r(&seconds, &parts);
    char text[64] = {};
    std::strftime(text, sizeof text, "%a %b %d %H:%M:%S %Y", &parts);
    return fmt::format("{} ({})", text, seconds);
}

std::string head_text(const wire::DiagReply& diag) {
    const std::string stars(55, '*');
    return fmt::format(
        "{0}\nsdiag output at {1}\nData since      {2}\n{0}\n"
        "Server thread count:  1\nRPC queue enabled:    0\nAgent queue size:     0\n"
        "Agent count:          0\nAgent thread count:   0\nDBD Agent queue size: 0\n\n"
        "Jobs submitted: {3}\nJobs started:   {4}\nJobs completed: {5}\nJobs canceled:  {6}\n"
        "Jobs failed:    {7}\n\nJob states ts:  {1}\nJobs pending:   {8}\nJobs running:   {9}\n",
        stars, moment(diag.now()), moment(diag.since()), diag.jobs_submitted(), diag.jobs_started(),
        diag.jobs_completed(), diag.jobs_cancelled(), diag.jobs_failed(), diag.jobs_pending(),
        diag.jobs_running());
}

std::string main_text(const wire::DiagReply& diag) {
    const auto minutes =
        static_cast<std::uint64_t>(std::max<std::int64_t>(diag.now() - diag.since(), 0)) / 60'000;
    return fmt::format(
        "\nMain schedule statistics (microseconds):\n\tLast cycle:   {}\n\tMax cycle:    {}\n"
        "\tTotal cycles: {}\n\tMean cycle:   {}\n\tMean depth cycle:  {}\n"
        "\tCycles per minute: {}\n\tLast queue length: {}\n"
        "\nMain scheduler exit:\n\tEnd of job queue:{:2}\n\tHit default_queue_depth: 0\n"
        "\tHit sched_max_job_start: 0\n\tBlocked on licenses: 0\n\tHit max_rpc_cnt: 0\n"
        "\tTimeout (max_sched_time): 0\n",
        diag.last_cycle_us(), diag.max_cycle_us(), diag.main_cycles(),
        mean(diag.total_cycle_us(), diag.main_cycles()),
        mean(diag.total_depth(), diag.main_cycles()),
        minutes == 0 ? diag.main_cycles() : diag.main_cycles() / minutes, diag.queue_length(),
        diag.main_cycles());
}

std::string backfill_text(const wire::DiagReply& diag) {
    const std::uint64_t cycles = diag.backfill_cycles();
    std::string text = fmt::format(
        "\nBackfilling stats\n"
        "\tTotal backfilled jobs (since last slurm start): {}\n"
        "\tTotal backfilled jobs (since last stats cycle start): {}\n"
        "\tTotal backfilled heterogeneous job components: 0\n\tTotal cycles: {}\n",
        diag.jobs_backfilled_ever(), diag.jobs_backfilled(), cycles);
    text += diag.last_backfill_at() > 0
                ? fmt::format("\tLast cycle when: {}\n", moment(diag.last_backfill_at()))
                : std::string("\tLast cycle when: N/A\n");
    text += fmt::format(
        "\tLast cycle: {}\n\tMax cycle:  {}\n\tMean cycle: {}\n\tLast depth cycle: {}\n"
        "\tLast depth cycle (try sched): {}\n\tDepth Mean: {}\n\tDepth Mean (try depth): {}\n"
        "\tLast queue length: {}\n\tQueue length mean: {}\n\tLast table size: {}\n"
        "\tMean table size: {}\n",
        diag.last_backfill_us(), diag.max_backfill_us(), mean(diag.total_backfill_us(), cycles),
        diag.last_backfill_depth(), diag.last_backfill_depth(),
        mean(diag.total_backfill_depth(), cycles), mean(diag.total_backfill_depth(), cycles),
        diag.backfill_queue_length(), mean(diag.total_backfill_queue_length(), cycles),
        diag.table_size(), mean(diag.total_table_size(), cycles));
    text += fmt::format(
        "\nBackfill exit\n\tEnd of job queue:{:2}\n\tHit bf_max_job_start: 0\n"
        "\tHit bf_max_job_test: 0\n\tSystem state changed: 0\n"
        "\tHit table size limit (bf_node_space_size): 0\n\tTimeout (bf_max_time): 0\n",
        cycles);
    return text;
}

std::int64_t clock_latency() {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 1000; ++i) (void)std::chrono::system_clock::now();
    const auto took = std::chrono::steady_clock::now() - begin;
    return std::chrono::duration_cast<std::chrono::microseconds>(took).count();
}

std::string requests_text(const wire::DiagReply& diag, const Typed& typed) {
    std::string text = fmt::format(
        "\nLatency for 1000 calls to gettimeofday(): {} microseconds\n"
        "\nRemote Procedure Call statistics by message type\n",
        clock_latency());
    std::vector<wire::DiagRpc> rpcs(diag.rpcs().begin(), diag.rpcs().end());
    std::ranges::sort(rpcs, [&](const wire::DiagRpc& a, const wire::DiagRpc& b) {
        if (typed.by_id) return a.number() < b.number();
        if (typed.by_time) return a.total_us() > b.total_us();
        if (typed.by_average) return mean(a.total_us(), a.count()) > mean(b.total_us(), b.count());
        return a.count() > b.count();
    });
    for (const wire::DiagRpc& rpc : rpcs) {
        text += fmt::format("\t{:<40}({:5}) count:{:<6} ave_time:{:<6} total_time:{}\n", rpc.name(),
                            rpc.number(), rpc.count(), mean(rpc.total_us(), rpc.count()),
                            rpc.total_us());
    }
    text += "\nRemote Procedure Call statistics by user\n";
    std::vector<wire::DiagUser> users(diag.users().begin(), diag.users().end());
    std::ranges::sort(users, std::greater{}, &wire::DiagUser::count);
    for (const wire::DiagUser& user : users) {
        text += fmt::format("\t{:<16}({:8}) count:{:<6} ave_time:{:<6} total_time:{}\n",
                            user.user(), user.uid(), user.count(),
                            mean(user.total_us(), user.count()), user.total_us());
    }
    text += "\nPending RPC statistics\n\tNo pending RPCs\n";
    return text;
}

int command_main(int argc, char** argv) {
    Typed typed;
    typed.document.command.assign(argv, argv + argc);
    const ParsedLine line = parse_options(kText, kOptions, typed, argc, argv);
    if (line.exit_code) return *line.exit_code;
    auto session = open_session(std::string(kProgram));
    if (!session) {
        say_call_failed(kProgram, "slurm_get_statistics", session.error());
        return 1;
    }
    if (!is_our_cluster(kProgram, typed.clusters, session->config)) return 1;
    wire::Request request;
    request.mutable_diag()->set_reset(typed.reset);
    const auto reply = session->connection.call(request);
    if (!reply) {
        say_call_failed(kProgram, typed.reset ? "slurm_reset_statistics" : "slurm_get_statistics",
                        reply.error());
        return 1;
    }
    if (typed.reset) {
        print("Reset scheduling statistics\n");
    } else if (typed.document.kind) {
        print_diag(reply->diag(), typed.document, session->config.cluster_name);
    } else {
        print(head_text(reply->diag()) + main_text(reply->diag()) + backfill_text(reply->diag()) +
              requests_text(reply->diag(), typed));
    }
    std::fflush(stdout);
    return 0;
}

}  // namespace
}  // namespace switchyard::cli::accounting

namespace switchyard::cli {

int sdiag_main(int argc, char** argv) { return accounting::command_main(argc, argv); }

}  // namespace switchyard::cli
