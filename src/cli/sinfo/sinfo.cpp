// sinfo.cpp: show partitions and nodes. Ask for both, leave out what was not asked for, print lines
// of nodes that have the shown fields in common.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "cli/commands.hpp"
#include "cli/job_ids.hpp"
#include "cli/message.hpp"
#include "cli/output.hpp"
#include "cli/session.hpp"
#include "cli/sinfo/sinfo_options.hpp"
#include "view/cluster/reservation_text.hpp"
#include "view/node/node_document.hpp"
#include "view/node/node_table.hpp"

namespace switchyard::cli {
namespace {

constexpr std::string_view kProgram = "sinfo";

struct Picture {
    std::vector<model::Partition> partitions;
    std::vector<view::PartitionTotals> totals;  // Of their nodes, the unwanted ones too.
    std::vector<model::Node> nodes;
    Instant now{};
};

Result<Picture> ask(Session& session, const SinfoOptions& options) {
    Picture picture;
    SY_TRY(auto answer, client::fetch_cluster(session.connection));
    for (model::Partition& partition : answer.partitions) {
        if (!is_wanted(partition, options)) continue;
        if (options.document.kind)
            picture.totals.push_back(view::totals_of(partition, answer.nodes.nodes));
        picture.partitions.push_back(std::move(partition));
    }
    for (model::Node& node : answer.nodes.nodes) {
        if (is_wanted(node, options)) picture.nodes.push_back(std::move(node));
    }
    picture.now = answer.nodes.now;
    return picture;
}

view::NodeTableRequest table_request(const SinfoOptions& options, const Picture& picture) {
    view::NodeTableRequest request;
    request.format = options.format.value_or("");
    request.long_format = options.long_format.value_or("");
    if (request.format.empty() && request.long_format.empty()) {
        request.format = default_format(options, picture.partitions, picture.nodes);
    }
    request.sort = options.sort.value_or(options.each_node ? "N" : "#P,-t");
    request.each_node = options.each_node;
    request.exact = options.exact;
    // Who asks for certain nodes is not told of partitions that have none of them.
    request.empty_partitions = !options.each_node && options.states.empty() && !options.reasons &&
                               options.nodes.empty() && !options.dead && !options.responding;
    return request;
}

view::NodeView make_view(const SinfoOptions& options, const Picture& picture,
                         const Session& session) {
    view::NodeView view;
    view.now = picture.now;
    view.cluster = session.config.cluster_name;
    view.time_format = options.time_format;
    for (const model::Node& node : picture.nodes) {
        if (!node.mark) continue;
        if (const auto uid = find_uid(node.mark->by); uid) view.user_ids[node.mark->by] = *uid;
    }
    return view;
}

bool print_once(Session& session, const SinfoOptions& options) {
    const auto picture = ask(session, options);
    if (!picture) {
        say_call_failed(kProgram, "slurm_load_partitions", picture.error());
        return false;
    }
    if (options.document.kind) {
        view::Document document = open_document(options.document);
        write_node_groups(document, picture->partitions, picture->totals, picture->nodes);
        close_document(document, options.document, session.config.cluster_name);
        return true;
    }
    const auto table = view::NodeTable::make(table_request(options, *picture));
    for (const std::string& field : table.unknown_fields()) {
        // Slurm's words, which speak of jobs where names are given and of no program where letters
        // are.
        if (options.long_format) {
            say_error(kProgram, fmt::format("Invalid job format specification: {}", field));
        } else {
            fmt::print(stderr, "Invalid node format specification: {}\n", field);
        }
    }
    const bool dated = options.long_list || options.iterate_seconds > 0;
    if (options.header && !options.clusters.empty()) {
        print("CLUSTER: " + session.config.cluster_name + "\n");
    }
    if (options.header && dated) print(date_line());
    if (options.header) print(table.header());
    print(table.lines(picture->partitions, picture->nodes, make_view(options, *picture, session)));
    std::fflush(stdout);
    if (options.verbose > 0) {
        say(kProgram, fmt::format("{} partitions, {} nodes", picture->partitions.size(),
                                  picture->nodes.size()));
    }
    return true;
}

int list_reservations(Session& session, const SinfoOptions& options) {
    const auto answer = client::fetch_reservations(session.connection);
    if (!answer) {
        say_call_failed(kProgram, "slurm_load_reservations", answer.error());
        return 1;
    }
    print(answer->reservations.empty()
              ? "No reservations in the system\n"
              : view::reservation_table(answer->reservations, answer->now, options.header,
                                        options.time_format));
    return 0;
}

int list_once(const SinfoOptions& options) {
    auto session = open_session(std::string(kProgram));
    if (!session) {
        say_call_failed(kProgram, "slurm_load_partitions", session.error());
        return 1;
    }
    if (!is_our_cluster(kProgram, options.clusters, session->config)) return 1;
    if (options.reservations) return list_reservations(*session, options);
    return print_once(*session, options) ? 0 : 1;
}

int run(const SinfoOptions& options) {
    for (;;) {
        const int code = list_once(options);
        if (options.iterate_seconds == 0) return code;
        // A controller that is away now may be back the next time.
        print("\n");
        std::fflush(stdout);
        sleep(static_cast<unsigned>(options.iterate_seconds));
    }
}

}  // namespace

int sinfo_main(int argc, char** argv) {
    const SinfoParsed parsed = parse_sinfo(argc, argv);
    return parsed.exit_code ? *parsed.exit_code : run(parsed.options);
}

}  // namespace switchyard::cli
