// job_spec.hpp: what a user asked for. Written once by sbatch, salloc or srun, completed with
// defaults by the controller, changed afterwards only by `scontrol update`.
//
// Fields that can be left out are optional: what was not asked for is not printed as if it had
// been.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "model/dependency.hpp"
#include "model/gres.hpp"
#include "model/job_array.hpp"
#include "model/mail.hpp"
#include "model/signals.hpp"
#include "model/size_format.hpp"
#include "model/time_format.hpp"

namespace switchyard::model {

enum class JobKind : std::uint8_t { Batch = 0, Allocation = 1 };  // sbatch; salloc and srun alone.

enum class Exclusive : std::uint8_t { No = 0, Node = 1, User = 2, Mcs = 3, Topo = 4 };
enum class OpenMode : std::uint8_t { Default = 0, Truncate = 1, Append = 2 };

// How much memory, and of what: --mem, --mem-per-cpu, --mem-per-gpu. An amount of 0 per node is all
// of it.
struct MemoryRequest {
    enum class Per : std::uint8_t { Unset = 0, Node = 1, Cpu = 2, Gpu = 3 };
    Per per = Per::Unset;
    MiB amount;
    bool operator==(const MemoryRequest&) const = default;
};

// How ranks spread over nodes, and cpus over sockets: --distribution (-m).
struct Distribution {
    enum class Nodes : std::uint8_t { Unset = 0, Block = 1, Cyclic = 2, Plane = 3, Arbitrary = 4 };
    Nodes nodes = Nodes::Unset;
    std::uint32_t plane_size = 0;
    bool pack = false, no_pack = false;
    std::string sockets;  // The part behind the first ':', kept as given.
    bool operator==(const Distribution&) const = default;
};
Result<Distribution> parse_distribution(std::string_view text);
std::string to_string(
    const Distribution& distribution);  // "block", "cyclic", "plane=2", "" when unset.

struct JobSpec {
    JobKind kind = JobKind::Batch;
    std::string name;
    std::uint32_t uid = 0;  // From the connection, never from the message.
    std::uint32_t gid = 0;
    std::string user;  // Names as the submitting host knows them.
    std::string group;

    std::vector<std::string> partitions;  // One, or a list to try in order; empty: the default.
    std::string account, qos, wckey, reservation, comment, licenses, network, mcs_label, extra;

    // Size.
    std::optional<std::uint32_t> nodes_min, nodes_max;
    std::optional<std::uint32_t> tasks;  // --ntasks
    std::optional<std::uint32_t> cpus_per_task;
    std::optional<std::uint32_t> tasks_per_node, tasks_per_socket, tasks_per_core, tasks_per_gpu;
    std::optional<std::uint32_t> sockets_per_node, cores_per_socket, threads_per_core;
    std::optional<std::uint32_t> cpus_per_node_min;  // --mincpus
    std::optional<std::uint32_t> core_spec;
    MemoryRequest memory;
    MiB tmp_disk;
    bool overcommit = false;  // -O
    bool contiguous = false, spread = false, use_min_nodes = false;
    Exclusive exclusive = Exclusive::No;
    bool oversubscribe = false;  // -s
    Distribution distribution;

    // Generic resources.
    std::vector<GresRequest> gres_per_node;  // --gres and --gpus-per-node
    std::vector<GresRequest> gpus_per_job;   // --gpus
    std::vector<GresRequest> gpus_per_socket, gpus_per_task;
    std::optional<std::uint32_t> cpus_per_gpu;
    std::string gpu_bind, gpu_freq;

    // Where.
    std::string constraint, prefer;
    std::vector<std::string> required_nodes;  // -w
    std::vector<std::string> excluded_nodes;  // -x

    // When.
    std::optional<TimeLimit> time_limit, time_min;
    std::optional<Instant> begin, deadline;
    bool hold = false;
    std::int32_t nice = 0;
    std::optional<std::uint32_t> priority;
    Dependency dependency;
    bool kill_on_invalid_dependency = false;
    std::optional<ArraySpec> array;
    bool immediate = false;
    bool detached = false;  // salloc --no-shell: lives without the command that asked for it.

    // What happens around it.
    std::optional<bool> requeue;  // Unset: the site's JobRequeue.
    bool no_kill = false;         // -k: keep running when a node fails.
    WarnSignal warn_signal;
    MailTypes mail_types = 0;
    std::string mail_user;
    OpenMode open_mode = OpenMode::Default;
    std::string std_in, std_out, std_err;  // Patterns as given; empty: the default.
    std::string work_dir;
    std::string command;      // Path of the script as submitted, for display; empty with --wrap.
    std::string submit_line;  // argv joined, for display.
    std::string submit_host;
    std::uint32_t alloc_sid = 0;
    std::string cron;  // Of scrontab: when it runs again, "0 4 * * 1".

    bool operator==(const JobSpec&) const = default;
};

struct ResourceLimit {
    std::int32_t resource = 0;  // RLIMIT_*
    std::uint64_t soft = 0, hard = 0;
    bool operator==(const ResourceLimit&) const = default;
};

// The bulky part of a submission. It goes straight to the store and is fetched when the job is
// launched: a million waiting jobs do not hold a million environments in memory.
struct JobPayload {
    std::string script;
    std::vector<std::string> arguments;    // Of the script.
    std::vector<std::string> environment;  // "K=V", what the user exported.
    std::vector<ResourceLimit> limits;     // --propagate
    std::uint32_t umask = 0022;
    bool operator==(const JobPayload&) const = default;
};

}  // namespace switchyard::model
