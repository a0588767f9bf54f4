// containment.hpp: the walls around a step: which processes are its own, on which cores and with
// how much memory they run, and how to end them all.
//
// Three kinds: cgroup v2, cgroup v1, and none (process tree, subreaper and a marker in the
// environment). The agent finds out once which kind there is and prepares this node's folder; its
// stepds are told (ContainmentPlan) and make one folder for the job, one in it for the step:
//
//   <mount>/switchyard/<place>/job_<id>_<attempt>/step_<id>
//
// (one for both in the freezer of v1, which limits nothing: freezer_folders.hpp).
// The job's folder is shared by the stepds of all its steps here. Who removes the last step removes
// it too; mkdir and rmdir are atomic, so that needs no agreement.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "model/index_set.hpp"

namespace switchyard::os {

struct ContainmentPlan {
    std::string kind = "none";  // "cgroup/v2", "cgroup/v1", "none"
    // Controller name ("" in v2) and this node's folder in its hierarchy.
    std::vector<std::pair<std::string, std::string>> folders;
    std::string place;                 // See place_of(); marks processes where there is no cgroup.
    std::vector<std::string> notices;  // What was found missing, for the log.
};

// A name for one node of one cluster that no other cluster on this host has, even of the same name.
std::string place_of(const std::string& cluster, const std::string& node, const std::string& spool);

// `wanted`: "autodetect", "cgroup/v1", "cgroup/v2", or "disabled" for none. Makes the node's
// folders.
ContainmentPlan find_containment(const std::string& wanted, const std::string& place);

struct DeviceFile {
    char type = 'c';
    unsigned major_number = 0, minor_number = 0;
};
// The device behind a path such as /dev/nvidia0.
std::optional<DeviceFile> device_of(const std::string& path);

struct StepLimits {
    model::IndexSet job_cpus, step_cpus;  // Numbers of the operating system; empty: all.
    std::optional<std::uint64_t> job_memory, step_memory;  // Bytes.
    std::vector<DeviceFile> denied_devices;
};

struct MemoryUse {
    std::uint64_t bytes = 0, peak_bytes = 0;
};
// Of all that ever was in a step, where the kernel counts it.
struct ProcessorTime {
    std::uint64_t user_us = 0, system_us = 0;
};

// How a child enters the step between fork and exec. Prepared beforehand, since a child of vfork
// must not allocate.
struct Entrance {
    std::vector<std::string> files;  // It writes "0" into each (v1), itself being meant.
    int folder = -1;  // Or it is cloned into this folder (v2); owned by the Containment.
};

class Containment {
  public:
    virtual ~Containment() = default;
    virtual Status create(const StepKey& key, const StepLimits& limits) = 0;
    virtual Result<Entrance> entrance(const StepKey& key) = 0;

    // Every live process of the step.
    virtual std::vector<pid_t> pids(const StepKey& key) = 0;
    virtual void signal_all(const StepKey& key, int signal);
    // One round of SIGKILL to all there is. Call again until pids() is empty.
    virtual void kill_all(const StepKey& key) = 0;
    virtual Status set_frozen(const StepKey& key, bool frozen) = 0;
    virtual std::uint64_t oom_kills(const StepKey& key) = 0;
    virtual MemoryUse memory_use(const StepKey& key) = 0;
    virtual ProcessorTime processor_time(const StepKey&) { return {}; }

    // Removes what create() made; Busy while a process is in it. False: another step of the job has
    // a folder here. True says less: not all kinds have folders that would tell.
    virtual Result<bool> remove(const StepKey& key) = 0;
    // The steps that have a folder here: what a dead stepd may have left behind.
    virtual std::vector<StepKey> existing() = 0;

    // Where the kernel does not limit memory, somebody must watch it.
    virtual bool limits_memory() const = 0;
    virtual bool pins_cores() const = 0;
};

// Whose a step is; none: not known here.
using OwnerOf = std::function<std::optional<uid_t>(const StepKey& key)>;
// Without cgroups, what a process says of itself counts if it is the owner's.
std::unique_ptr<Containment> make_containment(const ContainmentPlan& plan, OwnerOf owner_of = {});
// What this process has kept of its last step for a next one: there will be none.
void drop_spare_walls(const ContainmentPlan& plan);

// Names of the folders, and back.
std::string job_folder(const StepKey& key);
std::string step_folder(const StepKey& key);
std::optional<StepKey> parse_folders(const std::string& job, const std::string& step);

}  // namespace switchyard::os
