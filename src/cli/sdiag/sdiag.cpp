// sdiag.cpp: how busy the controller is. What it has no counterpart of (threads that serve, queues
// to agents and to a database daemon) is zero, because there is none.
#include <chrono>
#include <cstdio>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/document_option.hpp"
#include "cli/message.hpp"
#include "cli/option_table.hpp"
#include "cli/output.hpp"
#include "cli/session.hpp"
#include "view/cluster/statistics.hpp"

namespace switchyard::cli {
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

view::RequestOrder order_of(const Typed& typed) {
    if (typed.by_id) return view::RequestOrder::ById;
    if (typed.by_time) return view::RequestOrder::ByTotalTime;
    return typed.by_average ? view::RequestOrder::ByMeanTime : view::RequestOrder::ByCount;
}

std::int64_t clock_latency() {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 1000; ++i) (void)std::chrono::system_clock::now();
    const auto took = std::chrono::steady_clock::now() - begin;
    return std::chrono::duration_cast<std::chrono::microseconds>(took).count();
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
    if (typed.reset) {
        const Status done = client::reset_statistics(session->connection);
        if (done) print("Reset scheduling statistics\n");
        if (!done) say_call_failed(kProgram, "slurm_reset_statistics", done.error());
        std::fflush(stdout);
        return done ? 0 : 1;
    }
    const auto statistics = client::fetch_statistics(session->connection);
    if (!statistics) {
        say_call_failed(kProgram, "slurm_get_statistics", statistics.error());
        return 1;
    }
    if (typed.document.kind) {
        view::Document document = open_document(typed.document);
        view::write_statistics(document, *statistics);
        close_document(document, typed.document, session->config.cluster_name);
    } else {
        print(view::statistics_text(*statistics, order_of(typed), clock_latency()));
    }
    std::fflush(stdout);
    return 0;
}

}  // namespace

int sdiag_main(int argc, char** argv) { return command_main(argc, argv); }

}  // namespace switchyard::cli
