// launch.hpp: everything a stepd is told at its start, as plain values: the step, whose it is, what
// to run, and what the agent knows of the node.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "model/job.hpp"
#include "model/job_spec.hpp"
#include "model/step.hpp"
#include "os/containment.hpp"
#include "os/users.hpp"

namespace switchyard::wire {
class AgentToStepd;
}

namespace switchyard::stepd {

// Where the srun of a step listens.
struct SrunAddress {
    std::string host;                    // Name of its host: its socket is tried if that is ours.
    std::vector<std::string> addresses;  // Else these, in turn.
    std::uint16_t port = 0;
    std::string unix_path;
    std::string key;
};

// What srun wants done, beyond the layout.
struct Command {
    std::vector<std::string> argv;
    std::vector<std::string> multi_prog;  // Lines of the --multi-prog file; argv is then empty.
    std::string work_dir;
    bool pty = false;
    std::uint16_t pty_rows = 24, pty_cols = 80;
    std::string std_in, std_out, std_err;  // Patterns; empty: through srun.
    bool label = false;                    // Lines in files, too, bear the number of their task.
    model::OpenMode open_mode = model::OpenMode::Default;
    bool stdin_to_all = false;
    std::optional<std::uint32_t> stdin_task;
    std::string cpu_bind, mem_bind;
    std::string distribution;
    std::string mpi;  // Which PMI the tasks are served; "none": none.
    bool wait_for_children = false;
    std::string task_prolog, task_epilog;
    model::WarnSignal warn_signal;
    SrunAddress srun;
};

struct HostName {
    std::string name, address;
};

// What only the agent knows of this node.
struct Setup {
    std::string spool;
    os::ContainmentPlan containment;
    std::vector<model::IndexSet> core_cpus;  // Empty: cores cannot be pinned.
    bool pretend = false;
    std::vector<model::GresInventory> gres;
    std::string share_folder;  // Of the guard and of MPS; empty: shares are not kept.
    // The agent's memory of turns of each card whose shares the guard keeps: "/proc/PID/fd/N".
    std::map<std::uint32_t, std::string> turns;
};

struct Launch {
    StepKey key;
    std::string node, cluster, config_path, user;
    std::uint32_t node_index = 0;  // Within the step.
    model::Job job;
    model::StepSpec spec;
    model::StepLayout layout;
    model::NodeGrant job_grant;  // The job's whole share of this node.
    os::Identity who;
    Instant started{};  // The step, as the controller has it.
    std::optional<Instant> deadline;
    Seconds kill_wait{30};
    std::vector<HostName> hosts;
    bool constrain_cores = true, constrain_memory = true, constrain_devices = true;
    std::string task_prolog, task_epilog;
    Seconds sample_period{30};  // 0: what tasks use is looked at when they end.
    model::JobPayload payload;  // Environment, limits and umask also of srun's steps.
    Command command;            // Only of srun's steps.
    Setup setup;
    std::vector<model::Job> components;  // Of a heterogeneous job: all, in order.
    std::optional<model::HetStep> het;   // Of a step over several of them.
    std::string resv_ports;

    bool is_batch() const { return key.step == kBatchStep; }
    bool has_srun() const { return !is_batch() && !spec.detached; }
    const model::StepNode& here() const { return layout.nodes[node_index]; }
};

// Fills groups from the name service where the controller sent none. InvalidArgument: a message
// that no controller of ours sends.
Result<Launch> read_launch(const wire::AgentToStepd& message);

// The file name under which a stepd listens in the spool: "12.4294967291.0.2001.sock", and back. It
// tells a restarted agent all that it must know of a step whose stepd is dead.
struct StepSocket {
    StepKey key;
    uid_t owner = 0;
    friend bool operator==(const StepSocket&, const StepSocket&) = default;
};
std::string socket_name(const StepSocket& socket);
std::optional<StepSocket> parse_socket_name(std::string_view name);

}  // namespace switchyard::stepd
