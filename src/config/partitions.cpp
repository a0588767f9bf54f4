#include "config/partitions.hpp"

#include <fmt/core.h>

#include <array>
#include <utility>

#include "base/text.hpp"
#include "config/apply.hpp"
#include "config/setters.hpp"
#include "model/hostlist.hpp"

namespace switchyard::config {
namespace {

using model::Partition;

struct Draft {
    Partition partition;
    std::string nodes;
};

template <bool Partition::* Member>
Status flag(Draft& draft, std::string_view value) {
    return set_flag<Partition, Member>(draft.partition, value);
}
template <auto Member>
Status number(Draft& draft, std::string_view value) {
    return set_number<Partition, Member>(draft.partition, value);
}
template <std::optional<std::uint32_t> Partition::* Member>
Status number_or_unlimited(Draft& draft, std::string_view value) {
    return set_number_or_unlimited<Partition, Member>(draft.partition, value);
}
template <std::optional<std::uint32_t> Partition::* Member>
Status minutes_or_unlimited(Draft& draft, std::string_view value) {
    return set_minutes_or_unlimited<Partition, Member>(draft.partition, value);
}
template <std::optional<model::MiB> Partition::* Member>
Status memory(Draft& draft, std::string_view value) {
    return set_memory_limit<Partition, Member>(draft.partition, value);
}
template <std::vector<std::string> Partition::* Member>
Status list(Draft& draft, std::string_view value) {
    return set_list<Partition, Member>(draft.partition, value);
}
template <std::string Partition::* Member>
Status text(Draft& draft, std::string_view value) {
    return set_optional_text<Partition, Member>(draft.partition, value);
}

Status set_nodes(Draft& draft, std::string_view value) {
    draft.nodes = std::string(value);
    return {};
}
Status set_max_time(Draft& draft, std::string_view value) {
    SY_TRY(draft.partition.max_time, model::parse_time_limit(value));
    return {};
}
Status set_default_time(Draft& draft, std::string_view value) {
    draft.partition.default_time = std::nullopt;
    if (equals_ignoring_case(value, "none")) return {};
    SY_TRY(draft.partition.default_time, model::parse_time_limit(value));
    return {};
}
Status set_state(Draft& draft, std::string_view value) {
    SY_TRY(draft.partition.state, model::parse_partition_state(value));
    return {};
}
Status set_alloc_nodes(Draft& draft, std::string_view value) {
    draft.partition.alloc_nodes.clear();
    if (equals_ignoring_case(value, "all") || equals_ignoring_case(value, "none")) return {};
    SY_TRY(draft.partition.alloc_nodes, model::expand_hostlist(value));
    return {};
}
Status set_preempt_mode(Draft& draft, std::string_view value) {
    SY_TRY(const model::PreemptWords words, model::parse_preempt_mode(value));
    draft.partition.preempt_mode = words.mode;
    return {};
}
// The key of old files: both the tier and the factor.
Status set_priority(Draft& draft, std::string_view value) {
    SY_CHECK(number<&Partition::priority_tier>(draft, value));
    return number<&Partition::priority_job_factor>(draft, value);
}

// NO, YES[:count], FORCE[:count], EXCLUSIVE.
Status set_over_subscribe(Draft& draft, std::string_view value) {
    using Mode = Partition::OverSubscribe;
    constexpr std::pair<std::string_view, Mode> kWords[] = {{"no", Mode::No},
                                                            {"yes", Mode::Yes},
                                                            {"force", Mode::Force},
                                                            {"exclusive", Mode::Exclusive}};
    const std::size_t colon = value.find(':');
    const std::string_view word = value.substr(0, colon);
    for (const auto& [name, mode] : kWords) {
        if (!equals_ignoring_case(name, word)) continue;
        draft.partition.over_subscribe = mode;
        if (colon == std::string_view::npos) return {};
        return number<&Partition::over_subscribe_count>(draft, value.substr(colon + 1));
    }
    return fail(Errc::InvalidArgument,
                fmt::format("\"{}\" is none of NO, YES, FORCE and EXCLUSIVE", value));
}

constexpr std::string_view kOnlyShown = "the value is only shown";
constexpr std::string_view kNoQos = "there are no QOS";

constexpr auto kPartitionKeys = std::to_array<KeyRule<Draft>>({
    {"Nodes", set_nodes},
    {"Default", flag<&Partition::is_default>},
    {"Hidden", flag<&Partition::hidden>},
    {"RootOnly", flag<&Partition::root_only>},
    {"DisableRootJobs", flag<&Partition::disable_root_jobs>},
    {"LLN", flag<&Partition::lln>, kOnlyShown},
    {"ReqResv", flag<&Partition::require_reservation>},
    {"ExclusiveUser", flag<&Partition::exclusive_user>},
    {"State", set_state},
    {"MaxTime", set_max_time},
    {"DefaultTime", set_default_time},
    {"DefTime", set_default_time},
    {"MinNodes", number<&Partition::min_nodes>},
    {"MaxNodes", number_or_unlimited<&Partition::max_nodes>},
    {"MaxCPUsPerNode", number_or_unlimited<&Partition::max_cpus_per_node>},
    {"DefMemPerCPU", memory<&Partition::def_mem_per_cpu>},
    {"DefMemPerNode", memory<&Partition::def_mem_per_node>},
    {"MaxMemPerCPU", memory<&Partition::max_mem_per_cpu>},
    {"MaxMemPerNode", memory<&Partition::max_mem_per_node>},
    {"Priority", set_priority},
    {"PriorityTier", number<&Partition::priority_tier>},
    {"PriorityJobFactor", number<&Partition::priority_job_factor>},
    {"OverSubscribe", set_over_subscribe},
    {"Shared", set_over_subscribe},
    {"AllowGroups", list<&Partition::allow_groups>},
    {"AllowAccounts", list<&Partition::allow_accounts>},
    {"DenyAccounts", list<&Partition::deny_accounts>},
    {"AllowQos", list<&Partition::allow_qos>, kNoQos},
    {"DenyQos", list<&Partition::deny_qos>, kNoQos},
    {"AllocNodes", set_alloc_nodes, kOnlyShown},
    {"QOS", text<&Partition::qos>, kNoQos},
    {"Alternate", text<&Partition::alternate>, kOnlyShown},
    {"GraceTime", number<&Partition::grace_time>},
    {"OverTimeLimit", minutes_or_unlimited<&Partition::over_time_limit>},
    {"PreemptMode", set_preempt_mode},
    {"CpuBind"},
    {"DefCpuPerGPU"},
    {"DefMemPerGPU"},
    {"ExclusiveTopo"},
    {"JobDefaults"},
    {"MaxCPUsPerSocket"},
    {"PowerDownOnIdle"},
    {"ResumeTimeout"},
    {"SelectTypeParameters"},
    {"SuspendTime"},
    {"SuspendTimeout"},
    {"Topology"},
    {"TRESBillingWeights"},
});

void apply(Draft& draft, const Pair& pair, const std::string& where, Findings& findings) {
    if (equals_ignoring_case(pair.key, "PartitionName")) return;
    apply_pair(find_rule<Draft>(kPartitionKeys, pair.key), draft, pair, where, "partition",
               "a PartitionName line", findings);
}

}  // namespace

void PartitionTable::add(const Line& line, const std::string& where, Findings& findings) {
    const std::string name = *line.find("PartitionName");
    if (equals_ignoring_case(name, "DEFAULT")) {
        for (const Pair& pair : line.pairs) {
            Draft
                probe;  // A bad value is reported here, not with every partition that inherits it.
            const std::size_t before = findings.errors.size();
            apply(probe, pair, where, findings);
            if (findings.errors.size() == before) defaults_.push_back(pair);
        }
        return;
    }
    Draft draft;
    draft.partition.min_nodes = 0;  // As Slurm shows a partition of the file without MinNodes.
    for (const Pair& pair : defaults_) apply(draft, pair, where, findings);
    for (const Pair& pair : line.pairs) apply(draft, pair, where, findings);
    // Several names may share one line.
    for (const std::string_view piece : split(name, ',')) {
        draft.partition.name = std::string(piece);
        const auto [at, fresh] = index_.emplace(draft.partition.name, entries_.size());
        if (!fresh) {
            findings.error(where, fmt::format("partition {} is defined a second time (first at {})",
                                              piece, entries_[at->second].where));
            return;
        }
        entries_.push_back({draft.partition, draft.nodes, where});
    }
}

std::vector<Partition> PartitionTable::finish(const NodeTable& nodes, Findings& findings) {
    std::vector<Partition> out;
    const Entry* by_default = nullptr;
    for (Entry& entry : entries_) {
        Partition& partition = entry.partition;
        if (!entry.nodes.empty()) {
            partition.nodes =
                nodes.resolve(entry.nodes, entry.where, "partition " + partition.name, findings);
        }
        if (partition.is_default && by_default != nullptr) {
            findings.notice(entry.where,
                            fmt::format("partition {} is the default, not {}: the last one counts",
                                        partition.name, by_default->partition.name));
            for (Partition& earlier : out) earlier.is_default = false;
        }
        if (partition.is_default) by_default = &entry;
        out.push_back(partition);
    }
    return out;
}

}  // namespace switchyard::config
