// node.hpp: a machine (or a pretend one), as configured, as its agent described it, and as it is
// now.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "model/gres.hpp"
#include "model/size_format.hpp"

namespace switchyard::model {

// A NodeName line. Counts left at 0 are taken from what the agent finds.
struct NodeConfig {
    std::string name;
    std::string host_name;  // NodeHostname; empty: the name.
    std::string address;    // NodeAddr; empty: the host name.
    std::uint32_t cpus = 0, boards = 1, sockets = 0, cores_per_socket = 0, threads_per_core = 0;
    MiB memory;
    MiB tmp_disk;
    std::uint32_t weight = 1;
    std::vector<std::string> features;                        // Available.
    std::optional<std::vector<std::string>> active_features;  // Left out: all of them.
    std::vector<GresInventory> gres;
    std::uint32_t core_spec_count = 0;
    MiB mem_spec_limit;
    std::uint16_t port = 0;
    // State= of the configuration: a node may be declared down, drained or future.
    enum class Start : std::uint8_t { Unknown = 0, Down = 1, Drain = 2, Future = 3 };
    Start start = Start::Unknown;
    std::string reason;
    bool operator==(const NodeConfig&) const = default;

    std::uint32_t cores() const { return sockets * cores_per_socket; }
    // Those that jobs can ask for.
    const std::vector<std::string>& active() const {
        return active_features ? *active_features : features;
    }
};

// What a card did when its agent last looked; what the card cannot tell is left out.
struct CardUse {
    std::uint32_t device = 0;
    std::optional<std::uint32_t> percent;  // Of the time it was busy.
    std::optional<MiB> memory;
    std::optional<std::uint32_t> watts;
    bool operator==(const CardUse&) const = default;
};

// What an agent says of its machine when it registers.
struct NodeFacts {
    std::string host_name, address, arch, os, version;
    std::uint32_t cpus = 0, sockets = 0, cores_per_socket = 0, threads_per_core = 0;
    MiB memory, free_memory, tmp_disk;
    double cpu_load = 0;
    Instant booted{}, agent_started{};
    std::string containment;  // "cgroup/v2", "cgroup/v1", "none"
    std::vector<GresInventory> gres;
    // Why its agent wants the node drained: a lost card, cards other than configured. Empty: well.
    std::string problem;
    std::vector<CardUse> card_use;
    bool operator==(const NodeFacts&) const = default;
};

// What an administrator, or the controller on its own, decided about a node.
struct NodeMark {
    std::string reason;
    std::string by;  // "root"
    Instant at{};
    bool operator==(const NodeMark&) const = default;
};

// A reboot that was asked for and is not over.
struct NodeReboot {
    // What becomes of the node when it is back. Keep: a drain of its own stays.
    enum class After : std::uint8_t { Keep = 0, Resume = 1, Down = 2 };
    bool asap = false;  // It takes no new jobs until then.
    After after = After::Keep;
    std::optional<Instant> issued;  // The node was told; none: it is waited for to be idle.
    bool drained = false;           // For this reboot, and not before.
    bool operator==(const NodeReboot&) const = default;
};

struct Node {
    NodeConfig config;
    std::optional<NodeFacts> facts;  // None before its agent first came.
    bool responding = false;         // Its agent is connected.
    bool down = false;               // By an administrator, by a failure, or never seen.
    bool drain = false;              // Takes no new jobs.
    std::optional<NodeMark> mark;    // Why it is down or drained, or to be rebooted.
    std::optional<NodeReboot> reboot;
    std::optional<Instant> last_busy;
    std::string comment, extra, instance_id, instance_type;
    std::optional<Instant> resume_at;  // Down or drained until then.

    // Derived from the jobs on it; kept by the controller, not stored.
    IndexSet used_cores;
    std::uint32_t used_cpus = 0;
    MiB used_memory;
    std::vector<GresGrant> used_gres;
    std::uint32_t running_jobs = 0, completing_jobs = 0;
    std::vector<std::string> partitions;
    bool exclusive = false;   // Held by one exclusive job.
    std::string reservation;  // Whose time on it is now; empty: nobody's.
    bool maint = false;       // That reservation is for maintenance.

    bool operator==(const Node&) const = default;
};

enum class NodeState : std::uint8_t {
    Unknown,
    Down,
    Idle,
    Allocated,
    Mixed,
    Draining,
    Drained,
    Completing,
    Future,
    Planned,
    Reserved,
    Maint
};
NodeState state_of(const Node& node);
// Words as sinfo shows them: "idle" / "idle", "draining" / "drng"; with '*' when not responding,
// '@' when a reboot waits and '^' when it was begun.
std::string long_name(const Node& node);   // "draining", "down*"
std::string short_name(const Node& node);  // "drng", "down*"
// As scontrol show node: "MIXED+DRAIN", "IDLE", "DOWN+NOT_RESPONDING".
std::string full_state(const Node& node);
bool accepts_jobs(const Node& node);

}  // namespace switchyard::model
