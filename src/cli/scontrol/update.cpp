// update.cpp: update, create and delete: which kind of thing the words speak of, and the
// request.
#include <fmt/format.h>

#include <chrono>

#include "base/text.hpp"
#include "base/visible.hpp"
#include "cli/job_ids.hpp"
#include "cli/output.hpp"
#include "cli/scontrol/scontrol.hpp"
#include "cli/scontrol/update_keys.hpp"

namespace switchyard::cli {
namespace {

constexpr std::string_view kCall = "slurm_update error";

enum class Kind { Unknown, Job, Node, Partition, Step };

Kind kind_of(const std::vector<KeyWord>& words) {
    struct Entry {
        std::string_view key;
        Kind kind;
    };
    constexpr Entry kEntries[] = {
        {"jobid", Kind::Job},           {"jobname", Kind::Job}, {"job", Kind::Job},
        {"nodename", Kind::Node},       {"node", Kind::Node},   {"partitionname", Kind::Partition},
        {"partition", Kind::Partition}, {"stepid", Kind::Step},
    };
    for (const Entry& entry : kEntries) {
        for (const KeyWord& word : words) {
            if (equals_ignoring_case(word.key, entry.key)) return entry.kind;
        }
    }
    return Kind::Unknown;
}

// "update job 12 TimeLimit=5" is "update JobId=12 TimeLimit=5"; "create partition PartitionName=x"
// names the kind twice.
std::vector<KeyWord> key_words(const Words& words) {
    std::vector<KeyWord> keys;
    for (std::size_t i = 0; i < words.size(); ++i) {
        KeyWord word = split_key_word(words[i]);
        const bool is_kind =
            !word.value &&
            (equals_ignoring_case(word.key, "job") || equals_ignoring_case(word.key, "jobid") ||
             equals_ignoring_case(word.key, "node") || equals_ignoring_case(word.key, "partition"));
        if (is_kind && i == 0 && words.size() > 1) {
            if (words[1].find('=') != std::string::npos) continue;
            word.value = words[++i];
        }
        if (equals_ignoring_case(word.key, "node")) word.key = "NodeName";
        keys.push_back(std::move(word));
    }
    // "Partition=x" names the partition where a partition is meant; for a job it is a property.
    if (kind_of(keys) == Kind::Partition) {
        for (KeyWord& word : keys) {
            if (equals_ignoring_case(word.key, "partition")) word.key = "PartitionName";
        }
    }
    return keys;
}

Result<std::vector<model::JobSelector>> jobs_of(Session& session, const JobChange& change) {
    std::vector<model::JobSelector> selectors;
    for (const std::string& id : change.ids) {
        const auto parsed = model::parse_job_selector(id);
        if (!parsed) return fail(Errc::InvalidJobId);
        selectors.push_back(*parsed);
    }
    if (!selectors.empty()) return selectors;
    client::JobsQuery query;
    query.filter.names = {change.name.value_or("")};
    query.hidden_partitions = true;
    if (change.user) {
        const auto uid = find_uid(*change.user);
        if (!uid) return fail(Errc::InvalidUserId);
        query.filter.uids = {*uid};
    }
    SY_TRY(const client::JobsChunk found, client::fetch_jobs(session.connection, query));
    for (const model::Job& job : found.jobs) {
        model::JobSelector selector;
        selector.job = job.id;
        selectors.push_back(selector);
    }
    if (selectors.empty()) return fail(Errc::InvalidJobId);
    return selectors;
}

std::string ids_of(const std::vector<KeyWord>& words) {
    for (const KeyWord& word : words) {
        if (equals_ignoring_case(word.key, "jobid")) return word.value.value_or("");
    }
    return {};
}

void update_job(Scontrol& control, const std::vector<KeyWord>& words) {
    const auto now = std::chrono::floor<Millis>(std::chrono::system_clock::now());
    const auto change = parse_job_change(words, now);
    if (!change && change.error().code == Errc::InvalidTime) {
        fmt::print(stderr, "{}\n", visible_lines(change.error().message));
        return;
    }
    if (!change && (change.error().code == Errc::DependencyProblem ||
                    change.error().code == Errc::Unsupported)) {
        return control.complain(
            fmt::format("{} for job {}", change.error().message, ids_of(words)));
    }
    if (!change) return control.complain(change.error().message);
    if (change->ids.empty() && !change->name) {
        return control.complain("Either JobId or JobName must be given");
    }
    Session* session = control.session(kCall);
    if (session == nullptr) return;
    const auto jobs = jobs_of(*session, *change);
    if (!jobs && change->ids.empty() && jobs.error().code == Errc::InvalidJobId) {
        return control.complain(
            fmt::format("scontrol: error: No jobs with name '{}'", change->name.value_or("")));
    }
    if (!jobs) return control.say_failed(kCall, jobs.error());
    const auto answer = client::update_jobs(session->connection, *jobs, change->update);
    if (!answer) return control.say_failed(kCall, answer.error());
    for (const client::Problem& problem : answer->problems) {
        control.complain(fmt::format("{} for job {}", errc_text(problem.code), problem.job));
    }
}

void update_node(Scontrol& control, const std::vector<KeyWord>& words) {
    auto change = parse_node_change(words);
    if (!change) return control.complain(change.error().message);
    Session* session = control.session(kCall);
    if (session == nullptr) return;
    const bool all = change->nodes.size() == 1 && equals_ignoring_case(change->nodes[0], "all");
    if (all) {
        const auto answer = client::fetch_nodes(session->connection);
        if (!answer) return control.say_failed(kCall, answer.error());
        change->nodes.clear();
        for (const model::Node& node : answer->nodes) change->nodes.push_back(node.config.name);
    }
    const Status done = client::update_nodes(session->connection, *change);
    if (!done) control.say_failed(kCall, done.error());
}

void change_partition(Scontrol& control, const std::vector<KeyWord>& words,
                      model::PartitionUpdate::Action action, std::string_view call) {
    const auto change = parse_partition_change(words, action);
    if (!change) return control.complain(change.error().message);
    Session* session = control.session(call);
    if (session == nullptr) return;
    const Status done = client::update_partition(session->connection, *change);
    if (!done) control.say_failed(call, done.error());
}

}  // namespace

void update(Scontrol& control, const Words& words) {
    if (words.empty()) return control.complain("too few arguments for update keyword");
    if (speaks_of_reservation(words))
        return change_reservation(control, words, model::ReservationUpdate::Action::Update);
    const std::vector<KeyWord> keys = key_words(words);
    switch (kind_of(keys)) {
        case Kind::Job:
            return update_job(control, keys);
        case Kind::Node:
            return update_node(control, keys);
        case Kind::Partition:
            return change_partition(control, keys, model::PartitionUpdate::Action::Update, kCall);
        case Kind::Step:
            return control.complain(
                "slurm_update error: the time limit of a step is that of its job");
        case Kind::Unknown:
            break;
    }
    control.complain(
        fmt::format("No valid entity in update command\nInput line must include "
                    "\"NodeName\", \"PartitionName\", \"Reservation\", \"JobId\", or "
                    "\"SlurmctldDebug\""));
}

void create(Scontrol& control, const Words& words) {
    if (words.empty()) return control.complain("too few arguments for create keyword");
    if (speaks_of_reservation(words))
        return change_reservation(control, words, model::ReservationUpdate::Action::Create);
    const std::vector<KeyWord> keys = key_words(words);
    switch (kind_of(keys)) {
        case Kind::Partition:
            return change_partition(control, keys, model::PartitionUpdate::Action::Create,
                                    "Error creating the partition");
        case Kind::Node:
            return control.complain(
                "Nodes are made by their NodeName lines in slurm.conf and scontrol reconfigure");
        default:
            break;
    }
    control.complain("scontrol: error: Invalid creation entity: " + words[0]);
}

void remove(Scontrol& control, const Words& words) {
    if (words.empty()) return control.complain("too few arguments for delete keyword");
    if (words.size() == 1 && words[0].find('=') == std::string::npos)
        return control.complain(
            "scontrol: error: Proper format is 'delete <ENTITY>=<ID>' or 'delete <ENTITY> <ID>'");
    if (speaks_of_reservation(words))
        return change_reservation(control, words, model::ReservationUpdate::Action::Delete);
    const std::vector<KeyWord> keys = key_words(words);
    switch (kind_of(keys)) {
        case Kind::Partition:
            return change_partition(control, keys, model::PartitionUpdate::Action::Delete,
                                    "delete_partition " + keys.front().typed);
        case Kind::Node:
            return control.complain(
                "Nodes are removed from slurm.conf, followed by scontrol reconfigure");
        default:
            break;
    }
    control.complain("Invalid deletion entity: " + words[0]);
}

}  // namespace switchyard::cli
