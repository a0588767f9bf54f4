// update_partition_keys.cpp: what `scontrol update` can change of a partition.
#include <fmt/format.h>

#include <limits>

#include "cli/job_ids.hpp"
#include "cli/scontrol/update_key.hpp"
#include "model/hostlist.hpp"

namespace switchyard::cli {
namespace {

using model::PartitionUpdate;

Failure bad_input(const KeyWord& word) {
    return fail(Errc::InvalidArgument, "scontrol: error: Invalid input " + word.typed);
}
// The choices are told.
Failure bad_choice(const KeyWord& word, std::string_view choices) {
    return fail(Errc::InvalidArgument,
                fmt::format("scontrol: error: Invalid input: {}\nscontrol: error: Acceptable {} "
                            "values are {}",
                            word.typed, word.key, choices));
}
// Of jobs and nodes the same is said otherwise.
Failure unknown_partition_key(const KeyWord& word) {
    return fail(Errc::InvalidArgument,
                fmt::format("scontrol: error: Update of this parameter is not supported: {}\n\n"
                            "scontrol: error: Request aborted",
                            word.typed));
}

// "ALL" is no restriction, which an empty list says.
std::vector<std::string> names_of(const KeyWord& word) {
    if (equals_ignoring_case(text_of(word), "all")) return {};
    return split_list(text_of(word));
}

template <std::optional<bool> PartitionUpdate::* Member>
Status set_yes_or_no(PartitionUpdate& update, const KeyWord& word, Instant) {
    const auto flag = flag_of(word);
    if (!flag) return bad_choice(word, "YES and NO");
    update.*Member = *flag;
    return {};
}
template <class Update, std::optional<std::vector<std::string>> Update::* Member>
Status set_names(Update& update, const KeyWord& word, Instant) {
    update.*Member = names_of(word);
    return {};
}

Status set_partition_name(PartitionUpdate& update, const KeyWord& word, Instant) {
    update.name = text_of(word);
    return {};
}
Status set_partition_state(PartitionUpdate& update, const KeyWord& word, Instant) {
    const auto state = model::parse_partition_state(text_of(word));
    if (!state) return bad_choice(word, "UP, DOWN, DRAIN and INACTIVE");
    update.state = *state;
    return {};
}
Status set_max_time(PartitionUpdate& update, const KeyWord& word, Instant) {
    const auto limit = model::parse_time_limit(text_of(word));
    if (!limit) return bad_input(word);
    update.max_time = *limit;
    return {};
}
Status set_default_time(PartitionUpdate& update, const KeyWord& word, Instant) {
    if (equals_ignoring_case(text_of(word), "none")) {
        update.default_time = std::optional<model::TimeLimit>{};
        return {};
    }
    const auto limit = model::parse_time_limit(text_of(word));
    if (!limit) return bad_input(word);
    update.default_time = std::optional(*limit);
    return {};
}
Status set_max_nodes(PartitionUpdate& update, const KeyWord& word, Instant) {
    const std::string text = to_lower(text_of(word));
    if (text == "unlimited" || text == "infinite") {
        update.max_nodes = std::optional<std::uint32_t>{};
        return {};
    }
    const auto number = number_of(word);
    if (!number) {
        return fail(Errc::InvalidArgument,
                    fmt::format("scontrol: error: Invalid numeric value \"{}\" for {}.",
                                text_of(word), word.key));
    }
    update.max_nodes = std::optional(*number);
    return {};
}
Status set_over_subscribe(PartitionUpdate& update, const KeyWord& word, Instant) {
    const std::string text = to_lower(text_of(word));
    using Over = model::Partition::OverSubscribe;
    if (text == "no") {
        update.over_subscribe = Over::No;
    } else if (text.starts_with("yes")) {
        update.over_subscribe = Over::Yes;
    } else if (text.starts_with("force")) {
        update.over_subscribe = Over::Force;
    } else if (text == "exclusive") {
        update.over_subscribe = Over::Exclusive;
    } else {
        return bad_choice(word, "NO, EXCLUSIVE, YES:#, and FORCE:#");
    }
    return {};
}

Status set_preempt_mode(PartitionUpdate& update, const KeyWord& word, Instant) {
    const auto words = model::parse_preempt_mode(text_of(word));
    if (!words) return bad_input(word);
    update.preempt_mode = words->mode;
    return {};
}

// A count, or none.
template <std::optional<std::uint32_t> PartitionUpdate::* Member>
Status set_limit(PartitionUpdate& update, const KeyWord& word, Instant) {
    const std::string text = to_lower(text_of(word));
    if (text == "unlimited" || text == "infinite") {
        update.*Member = PartitionUpdate::kNone;
        return {};
    }
    SY_TRY(update.*Member, number_of(word));
    return {};
}
template <std::optional<model::MiB> PartitionUpdate::* Member>
Status set_mebibytes(PartitionUpdate& update, const KeyWord& word, Instant) {
    SY_TRY(const std::uint32_t amount, number_of(word));
    update.*Member = model::MiB{amount};
    return {};
}
Status set_exclusive(PartitionUpdate& update, const KeyWord& word, Instant) {
    using Over = model::Partition::OverSubscribe;
    const std::string text = to_lower(text_of(word));
    if (text == "no" || text == "none") {
        update.exclusive_user = false;
        update.over_subscribe = Over::No;
    } else if (text == "user") {
        update.exclusive_user = true;
    } else if (text == "node") {
        update.over_subscribe = Over::Exclusive;
    } else if (text == "topo") {
        return refuse_key(update, word, Instant{});
    } else {
        return bad_choice(word, "NO, NODE, USER, TOPO");
    }
    return {};
}

const Key<PartitionUpdate> kPartitionKeys[] = {
    {"PartitionName", set_partition_name},
    {"AllocNodes", set_names<PartitionUpdate, &PartitionUpdate::alloc_nodes>},
    {"AllowAccounts", set_names<PartitionUpdate, &PartitionUpdate::allow_accounts>},
    {"AllowGroups", set_names<PartitionUpdate, &PartitionUpdate::allow_groups>},
    {"AllowQOS", set_names<PartitionUpdate, &PartitionUpdate::allow_qos>},
    {"Alternate", set_text<PartitionUpdate, &PartitionUpdate::alternate>},
    {"CpuBind", refuse_key<PartitionUpdate>},
    {"DefMemPerCPU", set_mebibytes<&PartitionUpdate::def_mem_per_cpu>},
    {"DefMemPerNode", set_mebibytes<&PartitionUpdate::def_mem_per_node>},
    {"DenyAccounts", set_names<PartitionUpdate, &PartitionUpdate::deny_accounts>},
    {"DenyQOS", set_names<PartitionUpdate, &PartitionUpdate::deny_qos>},
    {"DisableRootJobs", set_yes_or_no<&PartitionUpdate::disable_root_jobs>},
    {"Exclusive", set_exclusive},
    {"ExclusiveUser", set_yes_or_no<&PartitionUpdate::exclusive_user>},
    {"JobDefaults", refuse_key<PartitionUpdate>},
    {"LLN", set_yes_or_no<&PartitionUpdate::lln>},
    {"MaxCPUsPerNode", set_limit<&PartitionUpdate::max_cpus_per_node>},
    {"MaxCPUsPerSocket", refuse_key<PartitionUpdate>},
    {"MaxMemPerCPU", set_mebibytes<&PartitionUpdate::max_mem_per_cpu>},
    {"MaxMemPerNode", set_mebibytes<&PartitionUpdate::max_mem_per_node>},
    {"OverTimeLimit", set_limit<&PartitionUpdate::over_time_limit>},
    {"PowerDownOnIdle", refuse_key<PartitionUpdate>},
    {"QOS", set_text<PartitionUpdate, &PartitionUpdate::qos>},
    {"ReqResv", set_yes_or_no<&PartitionUpdate::require_reservation>},
    {"Topology", refuse_key<PartitionUpdate>},
    {"TRESBillingWeights", refuse_key<PartitionUpdate>},
    {"Default", set_yes_or_no<&PartitionUpdate::is_default>},
    {"DefaultTime", set_default_time},
    {"GraceTime", set_number<PartitionUpdate, &PartitionUpdate::grace_time>},
    {"Hidden", set_yes_or_no<&PartitionUpdate::hidden>},
    {"MaxNodes", set_max_nodes},
    {"MaxTime", set_max_time},
    {"MinNodes", set_number<PartitionUpdate, &PartitionUpdate::min_nodes>},
    {"Nodes", set_nodes<PartitionUpdate, &PartitionUpdate::nodes>},
    {"OverSubscribe", set_over_subscribe},
    {"PreemptMode", set_preempt_mode},
    {"Priority", set_number<PartitionUpdate, &PartitionUpdate::priority_tier>},
    {"PriorityJobFactor", set_number<PartitionUpdate, &PartitionUpdate::priority_job_factor>},
    {"PriorityTier", set_number<PartitionUpdate, &PartitionUpdate::priority_tier>},
    {"RootOnly", set_yes_or_no<&PartitionUpdate::root_only>},
    {"Shared", set_over_subscribe},
    {"State", set_partition_state},
};

}  // namespace

Result<PartitionUpdate> parse_partition_change(const std::vector<KeyWord>& words,
                                               PartitionUpdate::Action action) {
    PartitionUpdate update;
    update.action = action;
    for (const KeyWord& word : words) {
        const std::span<const Key<PartitionUpdate>> keys(kPartitionKeys);
        if (find_key(keys, word.key) == nullptr) return unknown_partition_key(word);
        SY_CHECK(apply(keys, update, word, Instant{}));
    }
    if (update.name.empty()) {
        return fail(Errc::InvalidArgument, "PartitionName must be given.");
    }
    if (action == PartitionUpdate::Action::Update && words.size() < 2) {
        return fail(Errc::InvalidArgument, fmt::format("scontrol: error: {}", kNoChanges));
    }
    return update;
}

}  // namespace switchyard::cli
