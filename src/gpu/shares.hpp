// shares.hpp: how a node keeps a shard job to its share of a card.
//
// Three means: the driver's own limits on what a cgroup holds of a card ("dmem", see
// memory_limits.hpp), with the guard for what such limits say nothing about; our own guard library;
// and the limits of NVIDIA's MPS. Which one a node uses is told by its inventory
// (GresInventory::protection) and shown; gres.conf can choose another or none (Flags=).
//
// The guard needs a folder that all users can reach: with the library itself, a ledger per job
// (guard/ledger.hpp), and sockets at which the tasks of a step are handed the memory of turns of
// their cards (guard/turns.hpp). That is shared by jobs of several users, so it is no file.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "model/gres.hpp"

namespace switchyard::gpu {

// What a machine offers.
struct ShareMeans {
    bool dmem = false;  // The driver limits the memory of all cards by cgroups.
    bool mps = false;   // nvidia-cuda-mps-control is installed.
    bool guard = false;
};

struct ShareChoice {
    std::string level;   // "dmem", "mps", "guard", "none"; "+strict" behind the guard's turns.
    std::string notice;  // What a person should know of it; empty: nothing.
};

// `wanted` as gres.conf has it: "" for the strongest, a level, or "strict". Never less than what
// was wanted without a notice. MPS is used where it is chosen, not by itself: one job's fault ends
// all of a card's MPS jobs.
ShareChoice choose_level(std::string_view wanted, const ShareMeans& means);
// `dmem` is not looked for here: it takes the cards and the node's cgroup to know.
ShareMeans find_means();

inline constexpr std::string_view kMpsControl = "nvidia-cuda-mps-control";
// Where a program is, in PATH or where NVIDIA's are; empty: nowhere.
std::string find_program(std::string_view name);

// The library as it is built into this program.
std::span<const std::byte> guard_image();

// A folder for the guard's files that all users can reach and that may hold programs: in /dev/shm,
// which containers see too, or else below `otherwise`.
std::string guard_folder(std::string_view place, const std::string& otherwise);
inline constexpr std::string_view kGuardFile = "libswitchyard_guard.so";
std::string guard_library(const std::string& folder);

// Makes the folder and writes the library.
Status prepare_guard(const std::string& folder);

struct GuardedStep {
    StepKey key;
    uid_t uid = 0;
    gid_t gid = 0;
};
// A fresh ledger that belongs to the job's user; one that is there is kept: another step's.
Status make_ledger(const std::string& folder, const GuardedStep& step);
// When the job has nothing left on the node.
void remove_files_of(const std::string& folder, JobId job, Attempt attempt);
// Where the tasks of a step are handed the memory of turns of a card.
std::string turns_socket(const std::string& folder, const StepKey& key, std::uint32_t device);

// SWITCHYARD_GUARD for the tasks of a step. `shares` is its grant of shards, `shard` the node's
// inventory of them, `cards` that of whole cards.
std::string guard_variable(const std::string& folder, const GuardedStep& step,
                           const model::GresGrant& shares, const model::GresInventory& shard,
                           const std::vector<model::GresInventory>& cards);

// Where the MPS daemon of a card listens and writes.
struct MpsFolders {
    std::string pipe, log;
};
MpsFolders mps_folders(const std::string& folder, std::uint32_t device);

// "16 of 64" as MPS counts it: 25. At least 1.
std::uint64_t share_percent(std::uint64_t amount, std::uint64_t per_device);

}  // namespace switchyard::gpu
