#include "stepd/gpu_environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "base/text.hpp"
#include "gpu/device_access.hpp"
#include "gpu/granted_card.hpp"
#include "gpu/memory_limits.hpp"
#include "gpu/shares.hpp"
#include "model/gpu_bind.hpp"
#include "os/cgroup_folders.hpp"

namespace switchyard::stepd {
namespace {

using model::GresGrant;
using model::GresInventory;

// The job's shares of cards on this node, and the node's inventory of them.
struct HeldShares {
    const GresGrant* grant = nullptr;
    const GresInventory* inventory = nullptr;
    bool by(std::string_view level) const {
        return inventory != nullptr && inventory->protection.starts_with(level);
    }
};

const model::NodeGrant& own_grant(const Launch& launch) { return launch.here().grant; }

HeldShares held_shares(const Launch& launch, const model::NodeGrant& grant) {
    for (const GresGrant& gres : grant.gres) {
        if (gres.shares.empty()) continue;
        for (const GresInventory& entry : launch.setup.gres) {
            if (entry.name == gres.name && entry.type == gres.type) return {&gres, &entry};
        }
    }
    return {};
}

// One daemon serves one card; who has shares of several is held by the guard.
bool uses_mps(const HeldShares& held) { return held.by("mps") && held.grant->shares.size() == 1; }

gpu::GuardedStep guarded_step(const Launch& launch) {
    return {launch.key, launch.who.uid, launch.who.gid};
}

// The cores of each task, if they divide evenly; else a task may run on all.
std::vector<model::IndexSet> task_cores(const Launch& launch) {
    const std::vector<std::uint32_t> cores = own_grant(launch).cores.to_vector();
    const std::size_t tasks = launch.here().tasks.size();
    std::vector<model::IndexSet> result;
    if (tasks == 0 || cores.size() % tasks != 0) return result;
    const std::size_t each = cores.size() / tasks;
    for (std::size_t task = 0; task < tasks && each > 0; ++task) {
        model::IndexSet& own = result.emplace_back();
        for (std::size_t k = 0; k < each; ++k) own.insert(cores[task * each + k]);
    }
    return result;
}

// Positions, in what the step has, of the cards that a task sees.
std::vector<std::uint32_t> seen_by(const Launch& launch, const std::vector<std::uint32_t>& granted,
                                   std::optional<std::uint32_t> local) {
    std::vector<std::uint32_t> all(granted.size());
    std::iota(all.begin(), all.end(), 0u);
    const auto bind = model::parse_gpu_bind(launch.spec.gpu_bind);
    // With one task there is nothing to tell apart.
    if (!local || !bind || launch.layout.task_count() <= 1) return all;
    std::vector<model::BindableCard> cards;
    for (const std::uint32_t at : all) {
        const std::uint32_t number = hides_devices(launch) ? at : granted[at];
        cards.push_back({number, gpu::find_card(launch.setup.gres, granted[at]).cores});
    }
    const auto tasks = static_cast<std::uint32_t>(launch.here().tasks.size());
    auto assigned = model::assign_gpus(*bind, cards, tasks, task_cores(launch));
    return *local < assigned.size() ? assigned[*local] : all;
}

// Where the other cards cannot be opened, the libraries count only those that can. Slices of a card
// have no numbers there, only names.
std::vector<std::string> names_for_libraries(const Launch& launch,
                                             const std::vector<std::uint32_t>& granted,
                                             const std::vector<std::uint32_t>& seen) {
    std::vector<std::string> names;
    for (const std::uint32_t at : seen) {
        const std::string name = gpu::find_card(launch.setup.gres, granted[at]).name;
        if (name.starts_with("MIG-")) {
            names.push_back(name);
        } else {
            names.push_back(fmt::to_string(hides_devices(launch) ? at : granted[at]));
        }
    }
    return names;
}

void set_guard(Environment& env, const Launch& launch, const HeldShares& held) {
    const std::string& folder = launch.setup.share_folder;
    env.set("SWITCHYARD_GUARD", gpu::guard_variable(folder, guarded_step(launch), *held.grant,
                                                    *held.inventory, launch.setup.gres));
    const std::string library = gpu::guard_library(folder);
    const std::string_view before = env.get("LD_PRELOAD");
    if (before.starts_with(library)) return;
    env.set("LD_PRELOAD", before.empty() ? library : fmt::format("{}:{}", library, before));
}

void set_mps(Environment& env, const Launch& launch, const HeldShares& held) {
    const GresGrant::Share& share = held.grant->shares.front();
    const gpu::MpsFolders folders = gpu::mps_folders(launch.setup.share_folder, share.device);
    env.set("CUDA_MPS_PIPE_DIRECTORY", folders.pipe);
    env.set("CUDA_MPS_LOG_DIRECTORY", folders.log);
    env.set("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
            gpu::share_percent(share.amount, held.inventory->per_device()));
    // The daemon knows one card, and calls it 0.
    for (const char* name : {"CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"}) env.set(name, "0");
    const std::uint64_t bytes = gpu::share_bytes(gpu::find_card(launch.setup.gres, share.device),
                                                 share.amount, held.inventory->per_device());
    if (bytes == 0) return;
    env.set("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", fmt::format("0={}M", bytes >> 20));
}

void set_shares(Environment& env, const Launch& launch) {
    const HeldShares held = held_shares(launch, launch.job_grant);
    if (held.grant == nullptr) return;
    if (held.grant->name == "mps") {
        env.set(
            "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
            gpu::share_percent(held.grant->shares.front().amount, held.inventory->per_device()));
    }
    if (launch.setup.share_folder.empty()) return;
    if (uses_mps(held)) {
        set_mps(env, launch, held);
    } else if (is_guarded(launch)) {
        set_guard(env, launch, held);
    }
}

// What another job, or the job around this step, was told of its cards.
void forget_cards(Environment& env, const Launch& launch) {
    env.unset("SWITCHYARD_GUARD");
    std::vector<std::string_view> kept;
    const std::string preload(env.get("LD_PRELOAD"));
    for (const std::string_view library : split(preload, ':')) {
        if (!library.ends_with(gpu::kGuardFile)) kept.push_back(library);
    }
    if (env.has("LD_PRELOAD")) env.set("LD_PRELOAD", fmt::to_string(fmt::join(kept, ":")));
    if (kept.empty()) env.unset("LD_PRELOAD");
    if (launch.is_batch()) return;
    for (const char* name :
         {"CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK",
          "SLURM_STEP_GPUS", "SLURM_GPUS_ON_NODE", "SLURM_SHARDS_ON_NODE",
          "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"}) {
        env.unset(name);
    }
}

std::string mask_text(const std::vector<std::uint32_t>& bits) {
    std::uint64_t mask = 0;
    for (const std::uint32_t bit : bits) {
        if (bit < 64) mask |= std::uint64_t{1} << bit;
    }
    return fmt::format("0x{:X}", mask);
}

}  // namespace

std::vector<std::uint32_t> visible_devices(const model::NodeGrant& grant) {
    std::set<std::uint32_t> devices;
    for (const GresGrant& gres : grant.gres) {
        if (gres.name == "gpu") {
            for (const std::uint32_t device : gres.devices.to_vector()) devices.insert(device);
        }
        for (const GresGrant::Share& share : gres.shares) devices.insert(share.device);
    }
    return {devices.begin(), devices.end()};
}

bool hides_devices(const Launch& launch) {
    if (!launch.constrain_devices) return false;
    const bool controlled = std::ranges::any_of(
        launch.setup.containment.folders, [](const auto& each) { return each.first == "devices"; });
    const bool has_files = std::ranges::any_of(launch.setup.gres, [](const GresInventory& gres) {
        return gres.name == "gpu" && !gres.files.empty();
    });
    return controlled && has_files;
}

std::vector<os::DeviceFile> denied_devices(const Launch& launch) {
    std::vector<os::DeviceFile> denied;
    if (!hides_devices(launch)) return denied;
    for (const std::string& file :
         gpu::denied_files(launch.setup.gres, own_grant(launch).gres, gpu::card_files())) {
        if (const auto device = os::device_of(file)) denied.push_back(*device);
    }
    return denied;
}

void set_gres(Environment& env, const Launch& launch, std::optional<std::uint32_t> local) {
    const model::NodeGrant& grant = own_grant(launch);
    forget_cards(env, launch);
    std::uint64_t shards = 0;
    for (const GresGrant& gres : grant.gres) {
        if (gres.name == "shard") shards += gres.count;
    }
    if (shards > 0) env.set("SLURM_SHARDS_ON_NODE", shards);
    const std::vector<std::uint32_t> granted = visible_devices(grant);
    if (granted.empty()) return;
    const std::string seen_list = fmt::to_string(
        fmt::join(names_for_libraries(launch, granted, seen_by(launch, granted, local)), ","));
    for (const char* name : {"CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ROCR_VISIBLE_DEVICES",
                             "ZE_AFFINITY_MASK"}) {
        env.set(name, seen_list);
    }
    env.set("SLURM_GPUS_ON_NODE", granted.size());
    const std::vector<std::uint32_t> of_job = visible_devices(launch.job_grant);
    env.set("SLURM_JOB_GPUS", fmt::to_string(fmt::join(of_job.empty() ? granted : of_job, ",")));
    if (!launch.is_batch()) env.set("SLURM_STEP_GPUS", fmt::to_string(fmt::join(granted, ",")));
    set_shares(env, launch);
}

bool is_guarded(const Launch& launch) {
    if (launch.setup.share_folder.empty()) return false;
    const HeldShares held = held_shares(launch, launch.job_grant);
    return held.by("guard") || held.by("dmem") || (held.by("mps") && !uses_mps(held));
}

std::set<std::uint32_t> guarded_cards(const Launch& launch) {
    std::set<std::uint32_t> cards;
    if (!is_guarded(launch)) return cards;
    for (const GresGrant::Share& share : held_shares(launch, launch.job_grant).grant->shares)
        cards.insert(share.device);
    return cards;
}

Status make_guard_files(const Launch& launch) {
    return gpu::make_ledger(launch.setup.share_folder, guarded_step(launch));
}

Status limit_cards(const Launch& launch, const std::string& library) {
    const HeldShares held = held_shares(launch, launch.job_grant);
    if (!held.by("dmem")) return {};
    SY_TRY(const gpu::MemoryLimits limits, gpu::MemoryLimits::open(library));
    const std::string cgroup = os::job_path(launch.setup.containment, launch.key);
    for (const GresGrant::Share& share : held.grant->shares) {
        const gpu::GrantedCard card = gpu::find_card(launch.setup.gres, share.device);
        SY_CHECK(limits.set(card.name, cgroup,
                            gpu::share_bytes(card, share.amount, held.inventory->per_device())));
    }
    return {};
}

std::string gpu_binding_line(const Launch& launch, std::uint32_t local) {
    const auto bind = model::parse_gpu_bind(launch.spec.gpu_bind);
    const std::vector<std::uint32_t> granted = visible_devices(own_grant(launch));
    if (!bind || !bind->verbose || granted.empty()) return {};
    const std::vector<std::uint32_t> seen = seen_by(launch, granted, local);
    std::vector<std::uint32_t> global;
    for (const std::uint32_t at : seen) global.push_back(granted[at]);
    return fmt::format(
        "gpu-bind: usable_gres={}; bit_alloc={}; local_inx={}; global_list={}; local_list={}\n",
        mask_text(global), mask_text(granted), seen.size(), fmt::join(global, ","),
        fmt::join(names_for_libraries(launch, granted, seen), ","));
}

}  // namespace switchyard::stepd
