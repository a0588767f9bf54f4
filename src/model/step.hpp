// step.hpp: one srun inside a job: what it asked for, where its tasks are, how it ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "model/job.hpp"
#include "model/job_spec.hpp"
#include "model/resources.hpp"
#include "model/usage.hpp"

namespace switchyard::model {

struct StepSpec {
    std::string name;
    std::optional<std::uint32_t> nodes_min, nodes_max;
    std::optional<std::uint32_t> tasks;
    std::optional<std::uint32_t> cpus_per_task;
    std::optional<std::uint32_t> tasks_per_node;
    MemoryRequest memory;
    std::vector<GresRequest> gres_per_node;  // Unset gres: the job's whole grant; "none": nothing.
    bool gres_none = false;
    std::vector<GresRequest> gpus_per_step, gpus_per_task;
    std::optional<std::uint32_t> tasks_per_gpu;
    std::string gpu_bind;  // As given, or what --gpus-per-task and --ntasks-per-gpu imply.
    std::vector<std::string> required_nodes, excluded_nodes;
    std::optional<std::uint32_t> relative;  // -r: first node, counted in the job's nodes.
    Distribution distribution;
    bool overlap = false;  // Shares cores with other steps.
    bool exact = false;    // Only the cores it asked for.
    bool whole = false;    // All cores of each of its nodes.
    bool overcommit = false;
    bool immediate = false;
    std::optional<TimeLimit> time_limit;
    bool interactive = false;
    std::string submit_line;  // The srun that asked for it.
    std::optional<std::uint32_t>
        resv_ports;         // --resv-ports: how many; 0: one for each node's task.
    bool detached = false;  // srun --async: it goes on without its srun.
    std::string srun_host;  // Where the srun that asked for it runs, and as which process.
    std::uint32_t srun_pid = 0;
    bool operator==(const StepSpec&) const = default;
};

// Which tasks run on which node of a step.
struct StepNode {
    NodeGrant grant;                   // The step's share of the job's grant on this node.
    std::vector<std::uint32_t> tasks;  // Global ranks, in local order.
    bool operator==(const StepNode&) const = default;
};

struct StepLayout {
    std::vector<StepNode> nodes;
    std::uint32_t task_count() const;
    bool operator==(const StepLayout&) const = default;
};

struct StepEnd {
    Instant ended{};
    JobState state = JobState::Completed;
    ExitStatus exit;  // The highest of its tasks.
    bool operator==(const StepEnd&) const = default;
};

// Where a step stands among those that one srun started in several components of a heterogeneous
// job: tasks and nodes are counted through all of them.
struct HetStep {
    std::uint32_t task_offset = 0, tasks = 0;
    std::uint32_t node_offset = 0, nodes = 0;
    bool operator==(const HetStep&) const = default;
};

struct Step {
    StepKey key;
    std::uint64_t nonce = 0;  // Chosen by srun: a repeated request finds the step it already made.
    StepSpec spec;
    StepLayout layout;  // None yet: it waits for room.
    Instant submitted{};
    Instant started{};                       // Zero: it has not, see is_pending().
    std::vector<std::string> running_nodes;  // Those that have not reported its end.
    ExitStatus worst_exit;                   // Of the nodes that have.
    StepUsage usage;                         // Likewise.
    std::optional<StepEnd> end;
    std::string resv_ports;  // "12000-12003"
    std::optional<HetStep> het;
    bool operator==(const Step&) const = default;
};

// A step of srun --async waits in its job's record until there is room for it.
bool is_pending(const Step& step);
JobState state_of(const Step& step);                // Pending, running, or how it ended.
std::optional<Instant> start_of(const Step& step);  // None: it has not begun, or never did.

std::string step_name(StepId step);         // "0", "batch", "extern", "interactive"
std::string to_string(const StepKey& key);  // "12.0", "12.batch"

}  // namespace switchyard::model
