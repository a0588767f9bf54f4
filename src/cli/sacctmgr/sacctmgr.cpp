// sacctmgr.cpp: what there is of accounts, users, associations and qualities of service. This
// cluster has none of them, so the lists are true and empty but for the cluster itself and what can
// be counted; what would change them is refused. A job's comments can be set, as in Slurm.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/commands.hpp"
#include "cli/document_option.hpp"
#include "cli/job_ids.hpp"
#include "cli/message.hpp"
#include "cli/option_table.hpp"
#include "cli/output.hpp"
#include "cli/session.hpp"
#include "model/hostlist.hpp"
#include "view/cluster/cluster_document.hpp"
#include "view/table/report_table.hpp"

namespace switchyard::cli {
namespace {

constexpr std::string_view kProgram = "sacctmgr";
constexpr std::uint32_t kRpcVersion = 11008;  // Of the release we answer as.

struct Typed {
    bool associations = false, immediate = false, header = true, parsable = false,
         parsable2 = false, quiet = false, readonly = false;
    int verbose = 0;
    DocumentWish document;
};

const Option<Typed> kOptions[] = {
    {{"associations", 's', Argument::None, "", "with their associations"},
     flag<&Typed::associations>},
    {{"immediate", 'i', Argument::None, "", "without asking"}, flag<&Typed::immediate>},
    json_option<&Typed::document>(),
    json_layout_option<&Typed::document>(),
    {{"noheader", 'n', Argument::None, "", "no headings"}, flag<&Typed::header, false>},
    // Every record of a table is one line anyway.
    {{"oneliner", 'o', Argument::None, "", "one line for each record (the default)"},
     nothing<Typed>},
    {{"parsable", 'p', Argument::None, "", "bars between the fields and at the end"},
     flag<&Typed::parsable>},
    {{"parsable2", 'P', Argument::None, "", "bars between the fields"}, flag<&Typed::parsable2>},
    {{"quiet", 'Q', Argument::None, "", "only say what went wrong"}, flag<&Typed::quiet>},
    {{"readonly", 'r', Argument::None, "", "change nothing"}, flag<&Typed::readonly>},
    {{"verbose", 'v', Argument::None, "", "say more"}, count<&Typed::verbose>},
    yaml_option<&Typed::document>(),
    yaml_layout_option<&Typed::document>(),
};
constexpr CommandText kText{
    .program = kProgram,
    .operands = "show|list <entity> [format=FIELDS], modify job where jobid=ID set comment=TEXT",
    .purpose = "What there is of accounts, users and associations.",
    .footer = {},
    .help_letter = 'h',
    .takes_words = true};

struct Column {
    std::string_view name, heading;
    int width;
};
using Row = std::map<std::string_view, std::string>;

constexpr Column kAccountColumns[] = {
    {"Account", "Account", 10}, {"Description", "Descr", 20}, {"Organization", "Org", 20}};
constexpr Column kUserColumns[] = {{"User", "User", 10},
                                   {"DefaultAccount", "Def Acct", 10},
                                   {"DefaultWCKey", "Def WCKey", 10},
                                   {"AdminLevel", "Admin", 9}};
constexpr Column kAssociationColumns[] = {{"Cluster", "Cluster", 10},
                                          {"Account", "Account", 10},
                                          {"User", "User", 10},
                                          {"Partition", "Partition", 10},
                                          {"Fairshare", "Share", 9},
                                          {"Share", "Share", 9},
                                          {"Priority", "Priority", 10},
                                          {"GrpJobsAccrue", "GrpJobsAccrue", 13},
                                          {"GrpJobs", "GrpJobs", 7},
                                          {"GrpTRES", "GrpTRES", 13},
                                          {"GrpSubmitJobs", "GrpSubmit", 9},
                                          {"GrpWall", "GrpWall", 11},
                                          {"GrpTRESMins", "GrpTRESMins", 13},
                                          {"GrpTRESRunMins", "GrpTRESRunMin", 13},
                                          {"GrpCPUs", "GrpCPUs", 8},
                                          {"GrpMemory", "GrpMem", 7},
                                          {"GrpNodes", "GrpNodes", 8},
                                          {"MaxJobs", "MaxJobs", 7},
                                          {"MaxTRESPerNode", "MaxTRESPerNode", 14},
                                          {"MaxTRESMins", "MaxTRESMins", 13},
                                          {"MaxTRES", "MaxTRES", 13},
                                          {"MaxCPUs", "MaxCPUs", 8},
                                          {"MaxNodes", "MaxNodes", 8},
                                          {"MaxSubmitJobs", "MaxSubmit", 9},
                                          {"MaxWall", "MaxWall", 11},
                                          {"QOS", "QOS", 20},
                                          {"DefaultQOS", "Def QOS", 9},
                                          {"ParentName", "Par Name", 10},
                                          {"ID", "ID", 6},
                                          {"Lineage", "Lineage", 20}};
constexpr Column kClusterColumns[] = {{"Cluster", "Cluster", 10},
                                      {"ControlHost", "ControlHost", 15},
                                      {"ControlPort", "ControlPort", 12},
                                      {"RPC", "RPC", 5},
                                      {"Share", "Share", 9},
                                      {"GrpJobs", "GrpJobs", 7},
                                      {"GrpTRES", "GrpTRES", 13},
                                      {"GrpSubmit", "GrpSubmit", 9},
                                      {"MaxJobs", "MaxJobs", 7},
                                      {"MaxTRES", "MaxTRES", 13},
                                      {"MaxSubmit", "MaxSubmit", 9},
                                      {"MaxWall", "MaxWall", 11},
                                      {"QOS", "QOS", 20},
                                      {"DefaultQOS", "Def QOS", 9},
                                      {"Classification", "Class", 9},
                                      {"Flags", "Flags", 20},
                                      {"NodeCount", "NodeCount", 9},
                                      {"NodeNames", "NodeNames", 20},
                                      {"TRES", "TRES", 20}};
constexpr Column kQosColumns[] = {{"Name", "Name", 10},
                                  {"Priority", "Priority", 10},
                                  {"GraceTime", "GraceTime", 10},
                                  {"Preempt", "Preempt", 10},
                                  {"PreemptExemptTime", "PreemptExemptTime", 19},
                                  {"PreemptMode", "PreemptMode", 11},
                                  {"Flags", "Flags", 40},
                                  {"UsageThreshold", "UsageThres", 10},
                                  {"UsageFactor", "UsageFactor", 11},
                                  {"GrpTRES", "GrpTRES", 13},
                                  {"GrpTRESMins", "GrpTRESMins", 13},
                                  {"GrpTRESRunMins", "GrpTRESRunMin", 13},
                                  {"GrpJobs", "GrpJobs", 7},
                                  {"GrpSubmit", "GrpSubmit", 9},
                                  {"GrpWall", "GrpWall", 11},
                                  {"MaxTRES", "MaxTRES", 13},
                                  {"MaxTRESPerNode", "MaxTRESPerNode", 14},
                                  {"MaxTRESMins", "MaxTRESMins", 13},
                                  {"MaxWall", "MaxWall", 11},
                                  {"MaxTRESPU", "MaxTRESPU", 13},
                                  {"MaxJobsPU", "MaxJobsPU", 9},
                                  {"MaxSubmitPU", "MaxSubmitPU", 11},
                                  {"MaxTRESPA", "MaxTRESPA", 13},
                                  {"MaxTRESRunMinsPA", "MaxTRESRunMinsPA", 22},
                                  {"MaxTRESRunMinsPU", "MaxTRESRunMinsPU", 22},
                                  {"MaxJobsPA", "MaxJobsPA", 9},
                                  {"MaxSubmitPA", "MaxSubmitPA", 11},
                                  {"MinTRES", "MinTRES", 13},
                                  {"ID", "ID", 6}};
constexpr Column kTresColumns[] = {{"Type", "Type", 8}, {"Name", "Name", 15}, {"ID", "ID", 6}};
constexpr Column kFederationColumns[] = {{"Federation", "Federation", 10},
                                         {"Cluster", "Cluster", 10},
                                         {"ID", "ID", 2},
                                         {"Features", "Features", 20},
                                         {"FedState", "FedState", 12}};
constexpr Column kInstanceColumns[] = {{"Cluster", "Cluster", 10},
                                       {"NodeName", "NodeName", -15},
                                       {"TimeStart", "TimeStart", 19},
                                       {"TimeEnd", "TimeEnd", 19},
                                       {"InstanceId", "InstanceId", 20},
                                       {"InstanceType", "InstanceType", 20},
                                       {"Extra", "Extra", 20}};
constexpr Column kProblemColumns[] = {{"Cluster", "Cluster", 10},
                                      {"Account", "Account", 10},
                                      {"User", "User", 10},
                                      {"Problem", "Problem", 40}};
constexpr Column kResourceColumns[] = {{"Name", "Name", 10},
                                       {"Server", "Server", 10},
                                       {"Type", "Type", 8},
                                       {"Count", "Count", 6},
                                       {"LastConsumed", "LastConsumed", 12},
                                       {"Allocated", "Allocated", 9},
                                       {"ServerType", "ServerType", 10},
                                       {"Flags", "Flags", 20}};
constexpr Column kTransactionColumns[] = {{"Time", "Time", 19},
                                          {"Action", "Action", 20},
                                          {"Actor", "Actor", 10},
                                          {"Where", "Where", 20},
                                          {"Info", "Info", 20}};
constexpr Column kWckeyColumns[] = {
    {"WCKey", "WCKey", 10}, {"Cluster", "Cluster", 10}, {"User", "User", 10}};

using Rows = std::vector<Row>;
using Nodes = std::vector<model::Node>;
Rows no_rows(const config::Config&, const Nodes&) { return {}; }

view::ClusterFacts facts_of(const config::Config& config, const Nodes& nodes) {
    view::ClusterFacts facts;
    facts.name = config.cluster_name;
    if (!config.controllers.empty()) {
        const config::ControllerHost& host = config.controllers.front();
        facts.host = host.address.empty() ? host.host : host.address;
    }
    facts.port = config.controller_port;
    facts.rpc_version = kRpcVersion;
    std::vector<std::string> names;
    std::set<std::string> hosts;
    for (const model::Node& node : nodes) {
        names.push_back(node.config.name);
        hosts.insert(node.config.host_name.empty() ? node.config.name : node.config.host_name);
    }
    facts.nodes = model::compress_hostlist(names);
    facts.shares_hosts = hosts.size() < names.size();
    facts.tres = view::count_tres(nodes);
    return facts;
}

Rows cluster_rows(const config::Config& config, const Nodes& nodes) {
    const view::ClusterFacts facts = facts_of(config, nodes);
    Row row;
    row["Cluster"] = facts.name;
    row["ControlHost"] = facts.host;
    row["ControlPort"] = std::to_string(facts.port);
    row["RPC"] = std::to_string(facts.rpc_version);
    row["NodeCount"] = std::to_string(nodes.size());
    row["NodeNames"] = facts.nodes;
    row["Flags"] = facts.shares_hosts ? "MultipleSlurmd" : "";
    row["TRES"] = fmt::format("cpu={},node={}", facts.tres.front().count, nodes.size());
    return {row};
}

Rows tres_rows(const config::Config&, const Nodes& nodes) {
    Rows rows;
    for (const view::CountedTres& each : view::count_tres(nodes)) {
        rows.push_back({{"Type", each.type}, {"Name", each.name}, {"ID", std::to_string(each.id)}});
    }
    return rows;
}

void write_cluster_row(view::Document& document, const Row&, const config::Config& config,
                       const Nodes& nodes) {
    view::write_cluster(document, facts_of(config, nodes));
}

// In this list nothing is counted.
void write_tres_row(view::Document& document, const Row& row, const config::Config&, const Nodes&) {
    const auto id = static_cast<std::uint32_t>(parse_uint(row.at("ID")).value_or(0));
    view::write_tres(document, {.type = row.at("Type"), .name = row.at("Name"), .id = id});
}

struct Entity {
    std::string_view name;      // What may be cut short.
    std::string_view spelling;  // Another one.
    std::span<const Column> columns;
    std::string_view format;
    Rows (*rows)(const config::Config&, const Nodes&);
    std::string_view key = {};  // In a document; empty: shown as text all the same, as Slurm does.
    void (*write)(view::Document&, const Row&, const config::Config&, const Nodes&) = nullptr;
};
constexpr std::string_view kAssociationFormat =
    "Cluster,Account,User,Partition,Share,Priority,GrpJobs,GrpTRES,GrpSubmitJobs,GrpWall,"
    "GrpTRESMins,MaxJobs,MaxTRES,MaxTRESPerNode,MaxSubmitJobs,MaxWall,MaxTRESMins,QOS,DefaultQOS,"
    "GrpTRESRunMins";
const Entity kEntities[] = {
    {"accounts", "account", kAccountColumns, "Account,Description,Organization", no_rows,
     "accounts"},
    {"associations", "assoc", kAssociationColumns, kAssociationFormat, no_rows, "associations"},
    {"clusters", "cluster", kClusterColumns,
     "Cluster,ControlHost,ControlPort,RPC,Share,GrpJobs,GrpTRES,GrpSubmit,MaxJobs,MaxTRES,"
     "MaxSubmit,MaxWall,QOS,DefaultQOS",
     cluster_rows, "clusters", write_cluster_row},
    {"federations", "federation", kFederationColumns, "Federation,Cluster,ID,Features,FedState",
     no_rows},
    {"instances", "instance", kInstanceColumns,
     "Cluster,NodeName,TimeStart,TimeEnd,InstanceId,InstanceType,Extra", no_rows, "instances"},
    {"problems", "problem", kProblemColumns, "Cluster,Account,User,Problem", no_rows},
    {"qos", "qos", kQosColumns,
     "Name,Priority,GraceTime,Preempt,PreemptExemptTime,PreemptMode,Flags,UsageThreshold,"
     "UsageFactor,GrpTRES,GrpTRESMins,GrpTRESRunMins,GrpJobs,GrpSubmit,GrpWall,MaxTRES,"
     "MaxTRESPerNode,MaxTRESMins,MaxWall,MaxTRESPU,MaxJobsPU,MaxSubmitPU,MaxTRESPA,"
     "MaxTRESRunMinsPA,MaxTRESRunMinsPU,MaxJobsPA,MaxSubmitPA,MinTRES",
     no_rows, "qos"},
    {"resources", "resource", kResourceColumns,
     "Name,Server,Type,Count,LastConsumed,Allocated,ServerType,Flags", no_rows},
    {"transactions", "transaction", kTransactionColumns, "Time,Action,Actor,Where,Info", no_rows},
    {"tres", "tres", kTresColumns, "Type,Name,ID", tres_rows, "TRES", write_tres_row},
    {"users", "user", kUserColumns, "User,DefaultAccount,AdminLevel", no_rows, "users"},
    {"wckeys", "wckey", kWckeyColumns, "WCKey,Cluster,User", no_rows, "wckeys"},
};

bool begins(std::string_view whole, std::string_view word) {
    return !word.empty() && equals_ignoring_case(whole.substr(0, word.size()), word);
}

const Entity* find_entity(std::string_view word) {
    for (const Entity& entity : kEntities) {
        if (begins(entity.name, word) || equals_ignoring_case(entity.spelling, word))
            return &entity;
    }
    return nullptr;
}

const Column* find_column(const Entity& entity, std::string_view name, bool associations) {
    const auto look = [&](std::span<const Column> columns) -> const Column* {
        for (const bool whole : {true, false}) {
            for (const Column& column : columns) {
                const bool fits = whole ? equals_ignoring_case(column.name, name) ||
                                              equals_ignoring_case(column.heading, name)
                                        : begins(column.name, name);
                if (fits) return &column;
            }
        }
        return nullptr;
    };
    const Column* own = look(entity.columns);
    return own != nullptr || !associations ? own : look(kAssociationColumns);
}

// A word of the command line after the entity: "format=...", "withassoc", "user=alice", "where".
struct Asked {
    std::string format;
    bool associations = false;
    std::map<std::string, std::set<std::string>> where;  // By the name in small letters.
};

Asked read_words(std::span<const std::string> words) {
    Asked asked;
    for (const std::string& word : words) {
        const std::size_t equals = word.find('=');
        const std::string key = to_lower(word.substr(0, equals));
        if (equals == std::string::npos) {
            asked.associations |= key == "withassoc";
            // A bare word names what to show: "show user alice".
            const bool known = key == "where" || key == "withassoc" || key == "withdeleted" ||
                               key == "tree" || key == "wopinfo" || key == "wolimits" ||
                               key == "withcoord" || key == "onlydefaults";
            if (!known) asked.where["name"].insert(word);
        } else if (begins("format", key) && key.size() >= 3) {
            asked.format = word.substr(equals + 1);
        } else {
            for (const std::string& value : split_list(word.substr(equals + 1)))
                asked.where[key].insert(value);
        }
    }
    return asked;
}

bool is_meant(const Entity& entity, const Row& row, const Asked& asked) {
    for (const auto& [key, values] : asked.where) {
        const std::string_view name =
            key == "name" || key == "names" ? entity.columns[0].name : std::string_view(key);
        const Column* column = find_column(entity, name, false);
        if (column == nullptr) continue;
        const auto value = row.find(column->name);
        if (value == row.end() || !values.contains(value->second)) return false;
    }
    return true;
}

class Printer {
  public:
    explicit Printer(const Typed& typed) : typed_(typed) {}

    // False: a field that does not exist, which is said.
    bool choose(const Entity& entity, const Asked& asked, bool associations) {
        const std::string format = asked.format.empty() ? std::string(entity.format) : asked.format;
        for (const view::FormatWord& wish : view::parse_format_list(format)) {
            const Column* column = find_column(entity, wish.name, associations);
            if (column == nullptr) {
                fmt::print(stderr, "Unknown field '{}'\n", wish.name);
                return false;
            }
            columns_.emplace_back(column, wish.width.value_or(column->width));
        }
        return true;
    }

    void header() const {
        if (!typed_.header) return;
        std::string line, dashes;
        for (const auto& [column, width] : columns_) {
            cell(line, column->heading, width, column == columns_.back().first);
            dashes += std::string(static_cast<std::size_t>(std::abs(width)), '-') + ' ';
        }
        print(line + '\n');
        if (!bars()) print(dashes + '\n');
    }

    void row(const Row& row) const {
        std::string line;
        for (const auto& [column, width] : columns_) {
            const auto value = row.find(column->name);
            cell(line, value == row.end() ? std::string_view() : value->second, width,
                 column == columns_.back().first);
        }
        print(line + '\n');
    }

  private:
    bool bars() const { return typed_.parsable || typed_.parsable2; }
    void cell(std::string& line, std::string_view text, int width, bool last) const {
        if (!bars()) return view::append_cell(line, text, width, view::Wide::Mark);
        const view::ReportStyle style{.parsable = true,
                                      .ending = typed_.parsable && !typed_.parsable2};
        view::append_parsable(line, text, style, last);
    }

    const Typed& typed_;
    std::vector<std::pair<const Column*, int>> columns_;
};

int refuse_entity() {
    std::fputs(
        "No valid entity in list command\n"
        "Input line must include \"Account\", \"Association\", \"Cluster\", \"Federation\", "
        "\"Instance\",\n\"Problem\", \"QOS\", \"Resource\", \"RunAwayJobs\", \"Transaction\", "
        "\"TRES\", \"User\",\nor \"WCKey\"\n",
        stderr);
    return 1;
}

void print_document(const Entity& entity, const Rows& rows, const Typed& typed,
                    const config::Config& config, const Nodes& nodes) {
    view::Document document = open_document(typed.document);
    document.begin_list(entity.key);
    for (const Row& row : rows) entity.write(document, row, config, nodes);
    document.end();
    close_document(document, typed.document, config.cluster_name);
}

int show(const Typed& typed, std::span<const std::string> words) {
    if (words.empty()) return refuse_entity();
    // Jobs that a database has and the controller has not: both are one here.
    const bool runaway = begins("runawayjobs", words[0]) && words[0].size() > 1;
    const Entity* entity = runaway ? nullptr : find_entity(words[0]);
    if (entity == nullptr && !runaway) return refuse_entity();
    const Asked asked = read_words(words.subspan(1));
    Printer printer(typed);
    if (entity != nullptr &&
        !printer.choose(*entity, asked, asked.associations || typed.associations))
        return 1;
    auto session = open_session(std::string(kProgram));
    if (!session) {
        say_call_failed(kProgram, "Problem talking to the controller", session.error());
        return 1;
    }
    const auto answer = client::fetch_nodes(session->connection);
    if (!answer) {
        say_call_failed(kProgram, "Problem talking to the controller", answer.error());
        return 1;
    }
    const config::Config& config = session->config;
    if (runaway) {
        print(fmt::format("Runaway Jobs: No runaway jobs found on cluster {}\n",
                          config.cluster_name));
        return 0;
    }
    Rows rows = entity->rows(config, answer->nodes);
    std::erase_if(rows, [&](const Row& row) { return !is_meant(*entity, row, asked); });
    if (typed.document.kind && !entity->key.empty()) {
        print_document(*entity, rows, typed, config, answer->nodes);
        return 0;
    }
    printer.header();
    for (const Row& row : rows) printer.row(row);
    std::fflush(stdout);
    return 0;
}

// modify job where jobid=12 set comment=... or admincomment=...
int modify_job(const Typed& typed, std::span<const std::string> words) {
    std::vector<model::JobSelector> jobs;
    model::JobUpdate update;
    bool setting = false;
    for (const std::string& word : words) {
        const std::string key = to_lower(word.substr(0, word.find('=')));
        const bool has_value = word.find('=') != std::string::npos;
        const std::string value = has_value ? word.substr(word.find('=') + 1) : std::string();
        if (!has_value) {
            setting = key == "set" || (key != "where" && setting);
        } else if (!setting && (key == "jobid" || key == "job" || key == "jobs")) {
            auto ids = parse_job_list(value);
            if (!ids) return refuse(kProgram, fmt::format("Invalid job id {}", value));
            jobs = *std::move(ids);
        } else if (setting && key == "comment") {
            update.comment = value;
        } else if (setting && key == "admincomment") {
            update.admin_comment = value;
        } else if (!setting && (key == "cluster" || key == "clusters")) {
            continue;
        } else {
            return refuse(kProgram, fmt::format("Unknown condition: {}", word));
        }
    }
    if (jobs.empty() || (!update.comment && !update.admin_comment)) {
        return refuse(kProgram,
                      "modify job needs where jobid=ID and set comment= or admincomment=");
    }
    if (typed.readonly) return refuse(kProgram, "Can't run this command in readonly mode.");
    auto session = open_session(std::string(kProgram));
    if (!session) {
        say_call_failed(kProgram, "Problem talking to the controller", session.error());
        return 1;
    }
    const auto answer = client::update_jobs(session->connection, jobs, update);
    if (!answer) {
        say_call_failed(kProgram, "Problem modifying the job", answer.error());
        return 1;
    }
    for (const client::Problem& problem : answer->problems) {
        say_error(kProgram, fmt::format("Job {}: {}", problem.job, errc_text(problem.code)));
    }
    if (!answer->problems.empty()) return 1;
    if (!typed.quiet) {
        print(" Modified jobs...\n");
        for (const std::string& id : answer->touched) print(fmt::format("  {}\n", id));
        std::fflush(stdout);
    }
    return 0;
}

int change(const Typed& typed, std::string_view verb, std::span<const std::string> words) {
    const bool modify = begins("modify", verb) || begins("update", verb);
    if (modify && !words.empty() && begins("jobs", words[0]))
        return modify_job(typed, words.subspan(1));
    return refuse(kProgram,
                  fmt::format("{}: this cluster has no accounts, users, associations or qualities "
                              "of service, and none can be made",
                              verb));
}

int command_main(int argc, char** argv) {
    Typed typed;
    typed.document.command.assign(argv, argv + argc);
    const ParsedLine line = parse_options(kText, kOptions, typed, argc, argv);
    if (line.exit_code) return *line.exit_code;
    const std::vector<OptionLine> lines = lines_of(kOptions);
    if (line.words.empty()) {
        print(usage_of(kText, lines));
        return 1;
    }
    const std::string& verb = line.words[0];
    const auto rest = std::span<const std::string>(line.words).subspan(1);
    if (begins("list", verb) || begins("show", verb)) return show(typed, rest);
    if (begins("help", verb)) {
        print(help_of(kText, lines));
        return 0;
    }
    if (begins("version", verb)) {
        print(fmt::format("{}\n", kVersionLine));
        return 0;
    }
    for (const std::string_view known :
         {"add", "create", "delete", "remove", "modify", "update", "dump", "load", "archive",
          "clear", "reconfigure", "shutdown"}) {
        if (begins(known, verb)) return change(typed, known, rest);
    }
    fmt::print(stderr, "invalid keyword: {}\n", verb);
    return 1;
}

}  // namespace

int sacctmgr_main(int argc, char** argv) { return command_main(argc, argv); }

}  // namespace switchyard::cli
