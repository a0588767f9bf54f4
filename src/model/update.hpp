// update.hpp: changes that `scontrol update`, `hold`, `suspend` and friends ask for. A field that
// is unset stays as it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/job_fields.hpp"
#include "model/job_spec.hpp"
#include "model/partition.hpp"

namespace switchyard::model {

struct TimeLimitChange {
    enum class Mode : std::uint8_t { Set = 0, Add = 1, Subtract = 2 };
    Mode mode = Mode::Set;
    TimeLimit limit;
    bool operator==(const TimeLimitChange&) const = default;
};

// Its members stand in their table: std::optional<std::string> name, account, ...
struct JobUpdate {
#define SY_MEMBER(type, member, ...) std::optional<type> member;
    SY_JOB_UPDATE_FIELDS(SY_MEMBER)
#undef SY_MEMBER
    bool operator==(const JobUpdate&) const = default;
};

// What `scontrol update NodeName=... State=...` can ask for.
enum class NodeVerb : std::uint8_t {
    None = 0,
    Drain = 1,
    Undrain = 2,
    Resume = 3,
    Down = 4,
    Fail = 5,
    Idle = 6,
    CancelReboot = 7
};

struct NodeUpdate {
    std::vector<std::string> nodes;
    NodeVerb verb = NodeVerb::None;
    std::optional<std::string> reason, comment, extra;
    std::optional<std::uint32_t> weight;
    std::optional<std::vector<std::string>> features, active_features;
    // One for all nodes, or one for each of them.
    std::optional<std::vector<std::string>> instance_ids, instance_types, addresses, host_names;
    std::optional<Seconds> resume_after;  // Negative: never.
    bool operator==(const NodeUpdate&) const = default;
};

struct PartitionUpdate {
    enum class Action : std::uint8_t { Update = 0, Create = 1, Delete = 2 };
    Action action = Action::Update;
    std::string name;
    std::optional<std::vector<std::string>> nodes, allow_groups, allow_accounts, deny_accounts,
        allow_qos, deny_qos, alloc_nodes;
    std::optional<std::string> qos, alternate;
    std::optional<PartitionState> state;
    std::optional<bool> is_default, hidden, root_only, disable_root_jobs, lln, require_reservation,
        exclusive_user;
    static constexpr std::uint32_t kNone = 0xffffffff;  // No limit, or none of its own.
    std::optional<std::uint32_t> max_cpus_per_node, over_time_limit;
    std::optional<MiB> def_mem_per_cpu, def_mem_per_node, max_mem_per_cpu, max_mem_per_node;
    std::optional<TimeLimit> max_time;
    std::optional<std::optional<TimeLimit>> default_time;
    std::optional<std::uint32_t> min_nodes, priority_tier, priority_job_factor;
    std::optional<std::optional<std::uint32_t>> max_nodes;
    std::optional<Partition::OverSubscribe> over_subscribe;
    std::optional<std::uint32_t> grace_time;
    std::optional<PreemptMode> preempt_mode;
    bool operator==(const PartitionUpdate&) const = default;
};

}  // namespace switchyard::model
