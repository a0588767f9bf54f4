#include "cli/update_keys.hpp"

#include <fmt/format.h>

#include <limits>
#include <span>

#include "base/limits.hpp"
#include "base/text.hpp"
#include "cli/job_ids.hpp"
#include "model/hostlist.hpp"

namespace switchyard::cli {
namespace {

using model::JobUpdate;
using model::NodeUpdate;
using model::PartitionUpdate;

// One key of an update: its name and what a value does.
template <class Update>
struct Key {
    std::string_view name;
    Status (*apply)(Update& update, const KeyWord& word, Instant now);
};

// The key of `word` is the one of the table by now, however it was typed.
Failure bad_value(const KeyWord& word) {
    return fail(Errc::InvalidArgument, fmt::format("scontrol: error: Invalid {} value: {}",
                                                   word.key, word.value.value_or("")));
}
Failure bad_duration(const KeyWord& word) {
    return fail(Errc::InvalidArgument, fmt::format("scontrol: error: Invalid {} value", word.key));
}
// Of partitions.
Failure bad_input(const KeyWord& word) {
    return fail(Errc::InvalidArgument, "scontrol: error: Invalid input " + word.typed);
}
// Of partitions, whose choices are told.
Failure bad_choice(const KeyWord& word, std::string_view choices) {
    return fail(Errc::InvalidArgument,
                fmt::format("scontrol: error: Invalid input: {}\nscontrol: error: Acceptable {} "
                            "values are {}",
                            word.typed, word.key, choices));
}
Failure unknown_key(const KeyWord& word) {
    return fail(
        Errc::InvalidArgument,
        fmt::format("Update of this parameter is not supported: {}\nRequest aborted", word.typed));
}

// Of partitions the same is said otherwise.
Failure unknown_partition_key(const KeyWord& word) {
    return fail(Errc::InvalidArgument,
                fmt::format("scontrol: error: Update of this parameter is not supported: {}\n\n"
                            "scontrol: error: Request aborted",
                            word.typed));
}

constexpr std::string_view kNoChanges = "No changes specified";

std::string text_of(const KeyWord& word) { return word.value.value_or(""); }

Result<std::uint32_t> number_of(const KeyWord& word) {
    const auto number = parse_uint(text_of(word));
    if (!number || *number > std::numeric_limits<std::uint32_t>::max()) return bad_value(word);
    return static_cast<std::uint32_t>(*number);
}

Result<bool> flag_of(const KeyWord& word) {
    const std::string text = to_lower(text_of(word));
    if (text == "yes" || text == "1" || text == "y" || text == "true") return true;
    if (text == "no" || text == "0" || text == "n" || text == "false") return false;
    return bad_value(word);
}

Result<std::vector<std::string>> nodes_of(const KeyWord& word) {
    auto nodes = model::expand_hostlist(text_of(word));
    if (!nodes) return bad_value(word);
    return nodes;
}

// "ALL" is no restriction, which an empty list says.
std::vector<std::string> names_of(const KeyWord& word) {
    if (equals_ignoring_case(text_of(word), "all")) return {};
    return split_list(text_of(word));
}

// --- the shapes most keys have ---

template <class Update, std::optional<std::string> Update::* Member>
Status set_text(Update& update, const KeyWord& word, Instant) {
    update.*Member = text_of(word);
    return {};
}
template <class Update, std::optional<std::uint32_t> Update::* Member>
Status set_number(Update& update, const KeyWord& word, Instant) {
    SY_TRY(update.*Member, number_of(word));
    return {};
}
template <class Update, std::optional<bool> Update::* Member>
Status set_flag(Update& update, const KeyWord& word, Instant) {
    SY_TRY(update.*Member, flag_of(word));
    return {};
}
template <std::optional<bool> PartitionUpdate::* Member>
Status set_yes_or_no(PartitionUpdate& update, const KeyWord& word, Instant) {
    const auto flag = flag_of(word);
    if (!flag) return bad_choice(word, "YES and NO");
    update.*Member = *flag;
    return {};
}
template <class Update, std::optional<std::vector<std::string>> Update::* Member>
Status set_nodes(Update& update, const KeyWord& word, Instant) {
    SY_TRY(update.*Member, nodes_of(word));
    return {};
}
template <class Update, std::optional<std::vector<std::string>> Update::* Member>
Status set_names(Update& update, const KeyWord& word, Instant) {
    update.*Member = names_of(word);
    return {};
}

// --- jobs ---

template <std::optional<Instant> JobUpdate::* Member>
Status set_moment(JobUpdate& update, const KeyWord& word, Instant now) {
    const auto moment = model::parse_instant(text_of(word), now);
    if (!moment) {
        return fail(Errc::InvalidArgument, fmt::format("Invalid time specification (pos=0): {}\n{}",
                                                       text_of(word), kNoChanges));
    }
    update.*Member = *moment;
    return {};
}

Status set_time_limit(JobUpdate& update, const KeyWord& word, Instant) {
    std::string text = text_of(word);
    char sign = word.sign;
    if (sign == 0 && text.size() > 1 && (text[0] == '+' || (text[0] == '-' && text != "-1"))) {
        sign = text[0];
        text.erase(0, 1);
    }
    const auto limit = model::parse_time_limit(text);
    if (!limit) return bad_duration(word);
    model::TimeLimitChange change;
    change.limit = *limit;
    if (sign == '+') change.mode = model::TimeLimitChange::Mode::Add;
    if (sign == '-') change.mode = model::TimeLimitChange::Mode::Subtract;
    update.time_limit = change;
    return {};
}

Status set_node_count(JobUpdate& update, const KeyWord& word, Instant) {
    const std::string text = text_of(word);
    const std::size_t dash = text.find('-');
    const auto least = parse_uint(text.substr(0, dash));
    const auto most =
        dash == std::string::npos ? least : parse_uint(std::string_view(text).substr(dash + 1));
    if (!least || !most || *most > limits::kNodesMax) {
        return fail(Errc::InvalidArgument,
                    fmt::format("scontrol: error: \"{}\" is not a valid node count", text));
    }
    if (*least > *most) {
        return fail(Errc::InvalidArgument,
                    fmt::format("scontrol: error: Maximum node count {} is less than minimum node "
                                "count {}",
                                *most, *least));
    }
    update.nodes_min = static_cast<std::uint32_t>(*least);
    update.nodes_max = static_cast<std::uint32_t>(*most);
    return {};
}

template <model::MemoryRequest::Per Per>
Status set_memory(JobUpdate& update, const KeyWord& word, Instant) {
    const auto amount = model::parse_memory(text_of(word));
    if (!amount) return bad_value(word);
    update.memory = model::MemoryRequest{Per, *amount};
    return {};
}

Status set_nice(JobUpdate& update, const KeyWord& word, Instant) {
    constexpr std::int32_t kNiceByDefault = 100;
    if (!word.value) {
        update.nice = kNiceByDefault;
        return {};
    }
    const auto nice = parse_int(*word.value);
    if (!nice || *nice < -2147483645 || *nice > 2147483645) return bad_value(word);
    update.nice = static_cast<std::int32_t>(*nice);
    return {};
}

Status set_gres(JobUpdate& update, const KeyWord& word, Instant) {
    const auto gres = model::parse_gres(text_of(word));
    if (!gres) return bad_value(word);
    update.gres_per_node = *gres;
    return {};
}

Status set_dependency(JobUpdate& update, const KeyWord& word, Instant) {
    if (text_of(word).empty()) {
        update.dependency = model::Dependency{};
        return {};
    }
    const auto dependency = model::parse_dependency(text_of(word));
    if (!dependency) return fail(Errc::DependencyProblem);
    update.dependency = *dependency;
    return {};
}

Status set_mail_type(JobUpdate& update, const KeyWord& word, Instant) {
    const auto types = model::parse_mail_types(text_of(word));
    if (!types) return fail(Errc::InvalidArgument, "Invalid MailType: " + text_of(word));
    update.mail_types = *types;
    return {};
}

Status set_partitions(JobUpdate& update, const KeyWord& word, Instant) {
    update.partitions = split_list(text_of(word));
    return {};
}

Status set_time_min(JobUpdate& update, const KeyWord& word, Instant) {
    const auto limit = model::parse_time_limit(text_of(word));
    if (!limit) return bad_duration(word);
    update.time_min = *limit;
    return {};
}

// A moment that means nothing changes nothing; Slurm says so and calls it well done.
Status set_end(JobUpdate& update, const KeyWord& word, Instant now) {
    const auto moment = model::parse_instant(text_of(word), now);
    if (!moment) {
        return fail(Errc::InvalidTime,
                    fmt::format("Invalid time specification (pos=0): {}", text_of(word)));
    }
    update.end = *moment;
    return {};
}

// "2", "2-4"
Status set_cpu_count(JobUpdate& update, const KeyWord& word, Instant) {
    const std::string text = text_of(word);
    const std::size_t dash = text.find('-');
    const auto least = parse_uint(text.substr(0, dash));
    const auto most =
        dash == std::string::npos ? least : parse_uint(std::string_view(text).substr(dash + 1));
    const std::string refusal = bad_value(word).error.message;
    if (!least || !most) {
        return fail(Errc::InvalidArgument,
                    fmt::format("scontrol: error: Invalid numeric value \"{}\" for {}.\n{}", text,
                                word.key, refusal));
    }
    if (*least == 0 || *least > *most || *most > std::numeric_limits<std::uint32_t>::max())
        return fail(Errc::InvalidArgument, refusal);
    update.cpus = static_cast<std::uint32_t>(*least);
    update.cpus_max = static_cast<std::uint32_t>(*most);
    return {};
}

Status set_core_spec(JobUpdate& update, const KeyWord& word, Instant) {
    const auto count = parse_int(text_of(word));
    if (!count || *count < -1 || *count > std::numeric_limits<std::uint16_t>::max())
        return bad_value(word);
    update.core_spec = static_cast<std::int32_t>(*count);
    return {};
}

Status set_tmp_disk(JobUpdate& update, const KeyWord& word, Instant) {
    SY_TRY(const std::uint32_t amount, number_of(word));
    update.tmp_disk = model::MiB{amount};
    return {};
}

// What cannot be had here, and why.
template <class Update>
Status refuse_key(Update&, const KeyWord& word, Instant) {
    struct Reason {
        std::string_view key, why;
    };
    constexpr Reason kReasons[] = {
        {"Clusters", "this cluster is in no federation"},
        {"ClusterFeatures", "this cluster is in no federation"},
        {"CertToken", "nodes are known by the cluster key, not by certificates"},
        {"CpuBind", "tasks are bound as their step asks; nodes have no mode of their own"},
        {"Exclusive", "there is no topology of nodes"},
        {"Gres", "what a node has is said by slurm.conf and gres.conf; see scontrol reconfigure"},
        {"JobDefaults", "there are no defaults of jobs by the card"},
        {"MaxCPUsPerSocket", "there is no limit of CPUs by the socket; see MaxCPUsPerNode"},
        {"PowerDownOnIdle", "nodes are not switched on and off here: there is no power saving"},
        {"TRESBillingWeights", "nothing is billed"},
        {"DelayBoot", "nodes are not rebooted for the features of a job"},
        {"Reboot", "nodes are not rebooted for a job; see scontrol reboot"},
        {"ResetAccrueTime", "priority does not grow with time"},
        {"SiteFactor", "there is no site factor in priorities"},
        {"Switches", "there is no topology of switches"},
        {"wait-for-switch", "there is no topology of switches"},
        {"ThreadSpec", "whole cores are set aside; use CoreSpec"},
        {"Topology", "there is no topology of nodes"},
    };
    std::string_view why = "not supported";
    for (const Reason& each : kReasons) {
        if (each.key == word.key) why = each.why;
    }
    return fail(Errc::InvalidArgument, fmt::format("{}: {}\nRequest aborted", word.typed, why));
}

Status refuse_buffers(JobUpdate&, const KeyWord&, Instant) { return fail(Errc::Unsupported); }

const Key<JobUpdate> kJobKeys[] = {
    {"Account", set_text<JobUpdate, &JobUpdate::account>},
    {"AdminComment", set_text<JobUpdate, &JobUpdate::admin_comment>},
    {"ArrayTaskThrottle", set_number<JobUpdate, &JobUpdate::array_throttle>},
    {"BurstBuffer", refuse_buffers},
    {"Clusters", refuse_key<JobUpdate>},
    {"ClusterFeatures", refuse_key<JobUpdate>},
    {"Comment", set_text<JobUpdate, &JobUpdate::comment>},
    {"Contiguous", set_flag<JobUpdate, &JobUpdate::contiguous>},
    {"CoreSpec", set_core_spec},
    {"CPUsPerTask", set_number<JobUpdate, &JobUpdate::cpus_per_task>},
    {"Deadline", set_moment<&JobUpdate::deadline>},
    {"DelayBoot", refuse_key<JobUpdate>},
    {"Dependency", set_dependency},
    {"EligibleTime", set_moment<&JobUpdate::begin>},
    {"EndTime", set_end},
    {"ExcNodeList", set_nodes<JobUpdate, &JobUpdate::excluded_nodes>},
    {"Extra", set_text<JobUpdate, &JobUpdate::extra>},
    {"Features", set_text<JobUpdate, &JobUpdate::constraint>},
    {"Gres", set_gres},
    {"Licenses", set_text<JobUpdate, &JobUpdate::licenses>},
    {"MailType", set_mail_type},
    {"MailUser", set_text<JobUpdate, &JobUpdate::mail_user>},
    {"MCSLabel", set_text<JobUpdate, &JobUpdate::mcs_label>},
    {"MinCPUsNode", set_number<JobUpdate, &JobUpdate::cpus_min>},
    {"MinMemoryCPU", set_memory<model::MemoryRequest::Per::Cpu>},
    {"MinMemoryNode", set_memory<model::MemoryRequest::Per::Node>},
    {"MinTmpDiskNode", set_tmp_disk},
    {"Nice", set_nice},
    {"NodeList", set_nodes<JobUpdate, &JobUpdate::required_nodes>},
    {"NumCPUs", set_cpu_count},
    {"NumNodes", set_node_count},
    {"NumTasks", set_number<JobUpdate, &JobUpdate::tasks>},
    {"OverSubscribe", set_flag<JobUpdate, &JobUpdate::oversubscribe>},
    {"Partition", set_partitions},
    {"Prefer", set_text<JobUpdate, &JobUpdate::prefer>},
    {"Priority", set_number<JobUpdate, &JobUpdate::priority>},
    {"QOS", set_text<JobUpdate, &JobUpdate::qos>},
    {"Reboot", refuse_key<JobUpdate>},
    {"ReqCores", set_number<JobUpdate, &JobUpdate::cores_per_socket>},
    {"ReqNodeList", set_nodes<JobUpdate, &JobUpdate::required_nodes>},
    {"ReqNodes", set_node_count},
    {"ReqProcs", set_number<JobUpdate, &JobUpdate::tasks>},
    {"ReqSockets", set_number<JobUpdate, &JobUpdate::sockets_per_node>},
    {"ReqThreads", set_number<JobUpdate, &JobUpdate::threads_per_core>},
    {"Requeue", set_flag<JobUpdate, &JobUpdate::requeue>},
    {"ReservationName", set_text<JobUpdate, &JobUpdate::reservation>},
    {"ResetAccrueTime", refuse_key<JobUpdate>},
    {"Shared", set_flag<JobUpdate, &JobUpdate::oversubscribe>},
    {"SiteFactor", refuse_key<JobUpdate>},
    {"StartTime", set_moment<&JobUpdate::begin>},
    {"StdErr", set_text<JobUpdate, &JobUpdate::std_err>},
    {"StdIn", set_text<JobUpdate, &JobUpdate::std_in>},
    {"StdOut", set_text<JobUpdate, &JobUpdate::std_out>},
    {"Switches", refuse_key<JobUpdate>},
    {"TasksPerNode", set_number<JobUpdate, &JobUpdate::tasks_per_node>},
    {"ThreadSpec", refuse_key<JobUpdate>},
    {"TimeLimit", set_time_limit},
    {"TimeMin", set_time_min},
    {"TresPerNode", set_gres},
    {"wait-for-switch", refuse_key<JobUpdate>},
    {"WCKey", set_text<JobUpdate, &JobUpdate::wckey>},
    {"WorkDir", set_text<JobUpdate, &JobUpdate::work_dir>},
};

// --- nodes ---

Status set_node_state(NodeUpdate& update, const KeyWord& word, Instant) {
    struct Verb {
        std::string_view word;
        model::NodeVerb verb;
    };
    constexpr Verb kVerbs[] = {
        {"DRAIN", model::NodeVerb::Drain},     {"DRAINED", model::NodeVerb::Drain},
        {"UNDRAIN", model::NodeVerb::Undrain}, {"RESUME", model::NodeVerb::Resume},
        {"DOWN", model::NodeVerb::Down},       {"FAIL", model::NodeVerb::Fail},
        {"IDLE", model::NodeVerb::Idle},       {"CANCEL_REBOOT", model::NodeVerb::CancelReboot},
    };
    for (const Verb& verb : kVerbs) {
        if (!equals_ignoring_case(text_of(word), verb.word)) continue;
        update.verb = verb.verb;
        return {};
    }
    if (starts_with_ignoring_case(text_of(word), "POWER_")) {
        return fail(Errc::InvalidArgument,
                    fmt::format("{}: nodes are not switched on and off here: there is no power "
                                "saving\nRequest aborted",
                                word.typed));
    }
    return fail(Errc::InvalidArgument,
                fmt::format("Invalid input: {}\nRequest aborted\nValid states are: CANCEL_REBOOT "
                            "DOWN DRAIN FAIL IDLE RESUME UNDRAIN\nNot all states are valid given "
                            "a node's prior state",
                            word.typed));
}

Status set_node_names(NodeUpdate& update, const KeyWord& word, Instant) {
    SY_TRY(update.nodes, nodes_of(word));
    return {};
}
Status set_node_reason(NodeUpdate& update, const KeyWord& word, Instant) {
    update.reason = text_of(word);
    return {};
}
Status set_weight(NodeUpdate& update, const KeyWord& word, Instant) {
    const auto weight = number_of(word);
    if (!weight) {
        return fail(Errc::InvalidArgument,
                    fmt::format("scontrol: error: Invalid value {} for {}", word.typed, word.key));
    }
    update.weight = *weight;
    return {};
}
// One for all nodes, or as many as there are nodes: "i-[1-4]".
template <std::optional<std::vector<std::string>> NodeUpdate::* Member>
Status set_each(NodeUpdate& update, const KeyWord& word, Instant) {
    if (text_of(word).empty()) {
        (update.*Member).emplace();
        return {};
    }
    SY_TRY(update.*Member, nodes_of(word));
    return {};
}
Status set_resume_after(NodeUpdate& update, const KeyWord& word, Instant) {
    const auto seconds = parse_int(text_of(word));
    if (!seconds || *seconds < -1 || *seconds > std::numeric_limits<std::uint32_t>::max()) {
        return fail(Errc::InvalidArgument,
                    fmt::format("scontrol: error: Invalid value {} for {}", word.typed, word.key));
    }
    update.resume_after = Seconds{*seconds};
    return {};
}
template <std::optional<std::vector<std::string>> NodeUpdate::* kList>
Status set_features(NodeUpdate& update, const KeyWord& word, Instant) {
    update.*kList = split_list(text_of(word));
    return {};
}

const Key<NodeUpdate> kNodeKeys[] = {
    {"NodeName", set_node_names},
    {"ActiveFeatures", set_features<&NodeUpdate::active_features>},
    {"AvailableFeatures", set_features<&NodeUpdate::features>},
    {"Features", set_features<&NodeUpdate::features>},
    {"CertToken", refuse_key<NodeUpdate>},
    {"Comment", set_text<NodeUpdate, &NodeUpdate::comment>},
    {"CpuBind", refuse_key<NodeUpdate>},
    {"Extra", set_text<NodeUpdate, &NodeUpdate::extra>},
    {"Gres", refuse_key<NodeUpdate>},
    {"InstanceId", set_each<&NodeUpdate::instance_ids>},
    {"InstanceType", set_each<&NodeUpdate::instance_types>},
    {"NodeAddr", set_each<&NodeUpdate::addresses>},
    {"NodeHostname", set_each<&NodeUpdate::host_names>},
    {"Reason", set_node_reason},
    {"ResumeAfter", set_resume_after},
    {"Topology", refuse_key<NodeUpdate>},
    {"State", set_node_state},
    {"Weight", set_weight},
};

// --- partitions ---

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

// The key of that name, or the only one that begins so.
template <class Update>
const Key<Update>* find_key(std::span<const Key<Update>> keys, std::string_view name) {
    constexpr std::size_t kShortest = 3;
    const Key<Update>* found = nullptr;
    for (const Key<Update>& key : keys) {
        if (equals_ignoring_case(key.name, name)) return &key;
        if (name.size() < kShortest || !starts_with_ignoring_case(key.name, name)) continue;
        if (found != nullptr) return nullptr;
        found = &key;
    }
    return found;
}

template <class Update>
Status apply(std::span<const Key<Update>> keys, Update& update, const KeyWord& word, Instant now) {
    const Key<Update>* key = find_key(keys, word.key);
    if (key == nullptr) return unknown_key(word);
    if (word.sign != 0 && key->name != "TimeLimit") return unknown_key(word);
    KeyWord named = word;
    named.key = key->name;
    return key->apply(update, named, now);
}

bool is_key(const KeyWord& word, std::string_view name) {
    return equals_ignoring_case(word.key, name);
}

}  // namespace

KeyWord split_key_word(std::string_view word) {
    KeyWord split;
    split.typed = word;
    const std::size_t equals = word.find('=');
    split.key = word.substr(0, equals);
    if (equals == std::string_view::npos) return split;
    split.value = std::string(word.substr(equals + 1));
    if (split.key.ends_with('+') || split.key.ends_with('-')) {
        split.sign = split.key.back();
        split.key.pop_back();
    }
    return split;
}

Result<JobChange> parse_job_change(const std::vector<KeyWord>& words, Instant now) {
    JobChange change;
    for (const KeyWord& word : words) {
        if (is_key(word, "JobId") || is_key(word, "Job") || is_key(word, "Jobs")) {
            for (std::string& id : split_list(text_of(word))) change.ids.push_back(std::move(id));
        } else if (is_key(word, "JobName") || is_key(word, "Name")) {
            change.name = text_of(word);
        } else if (is_key(word, "UserId")) {
            change.user = text_of(word);
        } else {
            SY_CHECK(apply(std::span<const Key<JobUpdate>>(kJobKeys), change.update, word, now));
        }
    }
    const bool renames = !change.ids.empty() && change.name;
    if (change.update == JobUpdate{} && !renames) {
        return fail(Errc::InvalidArgument, std::string(kNoChanges));
    }
    // Beside a JobId the name is a new name.
    if (renames) {
        change.update.name = std::move(change.name);
        change.name.reset();
    }
    return change;
}

Result<NodeUpdate> parse_node_change(const std::vector<KeyWord>& words) {
    NodeUpdate update;
    for (const KeyWord& word : words) {
        SY_CHECK(apply(std::span<const Key<NodeUpdate>>(kNodeKeys), update, word, Instant{}));
    }
    if (words.size() < 2) return fail(Errc::InvalidArgument, std::string(kNoChanges));
    const bool takes_away = update.verb == model::NodeVerb::Drain ||
                            update.verb == model::NodeVerb::Down ||
                            update.verb == model::NodeVerb::Fail;
    if (takes_away && update.reason.value_or("").empty()) {
        return fail(Errc::InvalidArgument,
                    "You must specify a reason when DOWNING or DRAINING a node. Request denied");
    }
    const bool returns =
        update.verb == model::NodeVerb::Drain || update.verb == model::NodeVerb::Down;
    if (update.resume_after && !returns) {
        return fail(Errc::InvalidArgument,
                    "You can only specify a resume time when DOWNING or DRAINING a node. Request "
                    "denied");
    }
    return update;
}

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
