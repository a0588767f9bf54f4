// sshare.cpp: shares of accounts. There are no associations and so no shares: the list has its
// headings and nothing more, which is what programs that read it can live with.
#include <fmt/format.h>

#include <cstdio>

#include "cli/commands.hpp"
#include "cli/document_option.hpp"
#include "cli/message.hpp"
#include "cli/option_table.hpp"
#include "cli/output.hpp"
#include "cli/session.hpp"
#include "view/table/report_table.hpp"

namespace switchyard::cli {
namespace {

constexpr std::string_view kProgram = "sshare";

struct Share {};  // There is none.
std::string nothing(const Share&) { return {}; }

const view::ReportField<Share> kFields[] = {
    {"Account", -20, view::Wide::Mark, nothing},
    {"Cluster", 10, view::Wide::Mark, nothing},
    {"EffectvUsage", 13, view::Wide::Mark, nothing},
    {"FairShare", 10, view::Wide::Mark, nothing},
    {"GrpTRESMins", 30, view::Wide::Mark, nothing},
    {"GrpTRESRaw", 30, view::Wide::Mark, nothing},
    {"ID", 6, view::Wide::Mark, nothing},
    {"LevelFS", 10, view::Wide::Mark, nothing},
    {"NormShares", 11, view::Wide::Mark, nothing},
    {"NormUsage", 11, view::Wide::Mark, nothing},
    {"Partition", 12, view::Wide::Mark, nothing},
    {"RawShares", 10, view::Wide::Mark, nothing},
    {"RawUsage", 11, view::Wide::Mark, nothing},
    {"TRESRunMins", 30, view::Wide::Mark, nothing},
    {"User", 10, view::Wide::Mark, nothing},
};
constexpr std::string_view kFormat =
    "Account,User,RawShares,NormShares,RawUsage,EffectvUsage,FairShare";
constexpr std::string_view kLongFormat =
    "Account,User,RawShares,NormShares,RawUsage,NormUsage,EffectvUsage,FairShare,LevelFS,"
    "GrpTRESMins,TRESRunMins";

struct Typed {
    std::string accounts, users, clusters;
    std::optional<std::string> format;
    bool all = false, long_list = false, header = true, parsable = false, parsable2 = false;
    bool partition = false, only_users = false;
    int verbose = 0;
    DocumentWish document;
};
std::string help_format() {
    return view::helpformat(view::names_of(std::span<const view::ReportField<Share>>(kFields)),
                            {.width = 17});
}

const Option<Typed> kOptions[] = {
    {{"accounts", 'A', Argument::Required, "NAMES", "of these accounts"}, keep<&Typed::accounts>},
    {{"all", 'a', Argument::None, "", "of all users"}, flag<&Typed::all>},
    {{"clusters", 'M', Argument::Required, "NAME", "the cluster to ask", "SLURM_CLUSTERS"},
     keep<&Typed::clusters>},
    {{"format", 'o', Argument::Required, "FIELDS",
      "columns: name[%[-]width],... (see --helpformat)"},
     keep<&Typed::format>},
    {{.name = "cluster", .argument = Argument::Required, .same_as = "clusters"}},
    {{.name = "helpformat", .letter = 'e', .help = "the fields -o knows", .answer = help_format}},
    json_option<&Typed::document>(),
    json_layout_option<&Typed::document>(),
    {{"long", 'l', Argument::None, "", "more columns"}, flag<&Typed::long_list>},
    {{"noheader", 'n', Argument::None, "", "no headings"}, flag<&Typed::header, false>},
    {{"parsable", 'p', Argument::None, "", "bars between the fields and at the end"},
     flag<&Typed::parsable>},
    {{"parsable2", 'P', Argument::None, "", "bars between the fields"}, flag<&Typed::parsable2>},
    {{"partition", 'm', Argument::None, "", "partitions of the associations"},
     flag<&Typed::partition>},
    {{"users", 'u', Argument::Required, "NAMES", "of these users"}, keep<&Typed::users>},
    {{"Users", 'U', Argument::None, "", "only users"}, flag<&Typed::only_users>},
    {{"verbose", 'v', Argument::None, "", "say why the list is empty"}, count<&Typed::verbose>},
    yaml_option<&Typed::document>(),
    yaml_layout_option<&Typed::document>(),
};
constexpr CommandText kText{.program = kProgram,
                            .operands = {},
                            .purpose = "Shares of accounts and users, of which there are none.",
                            .footer = {},
                            .help_letter = 'h',
                            .takes_words = false};

void print_document(const DocumentWish& wish, const std::string& cluster) {
    view::Document document = open_document(wish);
    document.begin_map("shares");
    document.texts("shares", {});
    document.integer("total_shares", 0);
    document.end();
    close_document(document, wish, cluster);
}

int command_main(int argc, char** argv) {
    Typed typed;
    typed.document.command.assign(argv, argv + argc);
    const ParsedLine line = parse_options(kText, kOptions, typed, argc, argv);
    if (line.exit_code) return *line.exit_code;
    const view::ReportStyle style{.header = typed.header,
                                  .parsable = typed.parsable || typed.parsable2,
                                  .ending = typed.parsable && !typed.parsable2,
                                  .delimiter = "|"};
    const std::string format =
        typed.format.value_or(std::string(typed.long_list ? kLongFormat : kFormat));
    const auto table = view::ReportTable<Share>::make(
        std::span<const view::ReportField<Share>>(kFields), format, style);
    if (!table) {
        return refuse(kProgram,
                      fmt::format("Invalid field requested: \"{}\"", table.error().message));
    }
    // Not without a cluster: an empty list must be a true one.
    auto session = open_session(std::string(kProgram));
    if (!session) {
        say_call_failed(kProgram, "Problem talking to the controller", session.error());
        return 1;
    }
    if (!is_our_cluster(kProgram, typed.clusters, session->config)) return 1;
    if (typed.verbose > 0) {
        say(kProgram, "there are no associations on this cluster, and so no shares");
    }
    if (typed.document.kind) {
        print_document(typed.document, session->config.cluster_name);
        return 0;
    }
    print(table->header());
    std::fflush(stdout);
    return 0;
}

}  // namespace

int sshare_main(int argc, char** argv) { return command_main(argc, argv); }

}  // namespace switchyard::cli
