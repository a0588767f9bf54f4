// partition.hpp: a named set of nodes with rules for the jobs that run there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/size_format.hpp"
#include "model/time_format.hpp"

namespace switchyard::model {

enum class PartitionState : std::uint8_t { Up = 0, Down = 1, Drain = 2, Inactive = 3 };
std::string_view to_string(PartitionState state);  // "UP"
Result<PartitionState> parse_partition_state(std::string_view text);

// What becomes of a job whose place another one takes. Wire numbers: append only.
enum class PreemptMode : std::uint8_t { Off = 0, Cancel = 1, Requeue = 2, Suspend = 3 };
std::string_view to_string(PreemptMode mode);  // "REQUEUE"
// "REQUEUE", "SUSPEND,GANG", "GANG" (which alone is OFF), in any case.
struct PreemptWords {
    PreemptMode mode = PreemptMode::Off;
    bool gang = false;
    bool operator==(const PreemptWords&) const = default;
};
Result<PreemptWords> parse_preempt_mode(std::string_view text);

struct Partition {
    enum class OverSubscribe : std::uint8_t { No = 0, Yes = 1, Force = 2, Exclusive = 3 };

    std::string name;
    std::vector<std::string> nodes;
    bool is_default = false, hidden = false, root_only = false, disable_root_jobs = false,
         lln = false, require_reservation = false, exclusive_user = false;
    PartitionState state = PartitionState::Up;
    TimeLimit max_time = TimeLimit::infinite();
    std::optional<TimeLimit> default_time;
    std::uint32_t min_nodes = 1;
    std::optional<std::uint32_t> max_nodes, max_cpus_per_node;
    std::optional<MiB> def_mem_per_cpu, def_mem_per_node, max_mem_per_cpu, max_mem_per_node;
    std::uint32_t priority_tier = 1, priority_job_factor = 1;
    OverSubscribe over_subscribe = OverSubscribe::No;
    std::uint32_t over_subscribe_count = 4;
    std::vector<std::string> allow_groups, allow_accounts, deny_accounts, allow_qos, deny_qos,
        alloc_nodes;
    std::string qos, alternate;
    std::uint32_t grace_time = 0;
    std::optional<std::uint32_t> over_time_limit;  // Minutes.
    std::optional<PreemptMode> preempt_mode;       // None: the cluster's.
    bool concealed = false;  // From whoever asked, who is shown it only on demand; not stored.
    bool operator==(const Partition&) const = default;
};

}  // namespace switchyard::model
