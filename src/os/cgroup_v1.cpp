// cgroup_v1.cpp: containment by the first version of cgroups.
//
// The freezer holds every step and says which processes are its own. cpuset, memory and devices
// are entered only by steps that are limited there: each further hierarchy costs a folder made, a
// process moved and a folder removed for every step. There a job has a folder, which has its
// limits, and its steps have theirs in it; in the freezer a step stands alone
// (freezer_folders.hpp).
#include "os/cgroup_v1.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "os/cgroup_folders.hpp"
#include "os/files.hpp"
#include "os/freezer_folders.hpp"
#include "os/processes.hpp"

namespace switchyard::os {
namespace {

constexpr int kFreezeLooksMax = 200;

class CgroupV1 final : public Containment {
  public:
    explicit CgroupV1(const ContainmentPlan& plan) {
        for (const auto& [controller, folder] : plan.folders) {
            if (controller == "freezer") freezer_ = FreezerFolders(folder);
            if (controller == "cpuset") cpuset_ = folder;
            if (controller == "memory") memory_ = folder;
            if (controller == "devices") devices_ = folder;
        }
    }

    Status create(const StepKey& key, const StepLimits& limits) override {
        made_for_ = key;
        made_.clear();
        frozen_ = false;
        SY_CHECK(freezer_.make(key));
        if (!cpuset_.empty() && !limits.job_cpus.empty()) SY_CHECK(limit_cpus(key, limits));
        if (!memory_.empty() && limits.job_memory) SY_CHECK(limit_memory(key, limits));
        if (!devices_.empty() && !limits.denied_devices.empty())
            SY_CHECK(deny_devices(key, limits));
        return {};
    }

    Result<Entrance> entrance(const StepKey& key) override {
        // "tasks", not "cgroup.procs": a thread that moves itself needs no lock on the whole
        // machine, and between fork and exec the thread is the process.
        Entrance way;
        way.files.push_back(freezer_.path_of(key) + "/tasks");
        for (const std::string& folder : limits_of(key)) {
            const std::string step = step_path(folder, key);
            if (made_for_ == key || exists(step)) way.files.push_back(step + "/tasks");
        }
        return way;
    }

    std::vector<pid_t> pids(const StepKey& key) override {
        return read_pids(freezer_.path_of(key));
    }

    // A frozen process receives its SIGKILL when it thaws; while all are frozen, none can fork
    // away.
    void kill_all(const StepKey& key) override {
        if (pids(key).empty()) return;
        const bool frozen = bool(freeze_and_wait(key));
        for (const pid_t pid : pids(key)) ::kill(pid, SIGKILL);
        if (frozen) (void)write_state(key, "THAWED");
    }

    Status set_frozen(const StepKey& key, bool frozen) override {
        return write_state(key, frozen ? "FROZEN" : "THAWED");
    }

    std::uint64_t oom_kills(const StepKey& key) override {
        if (!is_in_memory(key)) return 0;
        return read_entry(step_path(memory_, key) + "/memory.oom_control", "oom_kill");
    }

    MemoryUse memory_use(const StepKey& key) override {
        if (!is_in_memory(key)) return {.bytes = resident_bytes(pids(key)), .peak_bytes = 0};
        const std::string step = step_path(memory_, key);
        return {.bytes = read_number(step + "/memory.usage_in_bytes"),
                .peak_bytes = read_number(step + "/memory.max_usage_in_bytes")};
    }

    Result<bool> remove(const StepKey& key) override {
        // The freezer comes last: while it is there, existing() finds the step.
        bool last = true;
        for (const std::string& folder : limits_of(key)) {
            SY_TRY(const bool gone, remove_step_folder(folder, key));
            last = last && gone;
        }
        SY_CHECK(freezer_.remove(key, made_for_ == key && !frozen_));
        if (made_for_ == key) made_for_.reset();
        return last;
    }

    std::vector<StepKey> existing() override {
        const std::vector<StepKey> tracked = freezer_.existing();
        std::set<StepKey> found(tracked.begin(), tracked.end());
        for (const std::string& folder : {cpuset_, memory_, devices_}) {
            if (folder.empty()) continue;
            for (const StepKey& key : list_steps(folder)) found.insert(key);
        }
        return {found.begin(), found.end()};
    }

    bool limits_memory() const override { return !memory_.empty(); }
    bool pins_cores() const override { return !cpuset_.empty(); }

  private:
    Status make(const std::string& folder, const StepKey& key) {
        made_.push_back(folder);
        return make_step_folder(folder, key);
    }

    bool is_in_memory(const StepKey& key) const {
        if (memory_.empty() || made_for_ != key) return !memory_.empty();
        return std::ranges::find(made_, memory_) != made_.end();
    }

    // The hierarchies, beside the freezer, a step may be in. A stepd made them and knows; an agent
    // that cleans up after one must look everywhere.
    std::vector<std::string> limits_of(const StepKey& key) const {
        if (made_for_ == key) return made_;
        std::vector<std::string> all{cpuset_, memory_, devices_};
        std::erase(all, std::string());
        return all;
    }

    Status limit_cpus(const StepKey& key, const StepLimits& limits) {
        SY_CHECK(make(cpuset_, key));
        SY_TRY(const std::string mems, read_file(cpuset_ + "/cpuset.mems"));
        const std::string job = cpuset_ + "/" + job_folder(key);
        const std::string step = step_path(cpuset_, key);
        const model::IndexSet& inner =
            limits.step_cpus.empty() ? limits.job_cpus : limits.step_cpus;
        SY_CHECK(write_file(job + "/cpuset.mems", mems));
        SY_CHECK(write_file(job + "/cpuset.cpus", to_string(limits.job_cpus)));
        SY_CHECK(write_file(step + "/cpuset.mems", mems));
        return write_file(step + "/cpuset.cpus", to_string(inner));
    }

    // The limit is the job's; a step has one of its own only if it asked for less.
    Status limit_memory(const StepKey& key, const StepLimits& limits) {
        SY_CHECK(make(memory_, key));
        SY_CHECK(set_memory(memory_ + "/" + job_folder(key), *limits.job_memory));
        if (limits.step_memory && *limits.step_memory < *limits.job_memory) {
            SY_CHECK(set_memory(step_path(memory_, key), *limits.step_memory));
        }
        return {};
    }

    static Status set_memory(const std::string& folder, std::uint64_t bytes) {
        // What is there already (another step set it) is left: memsw must never be below it.
        if (read_number(folder + "/memory.limit_in_bytes") == bytes) return {};
        SY_CHECK(write_file(folder + "/memory.limit_in_bytes", fmt::to_string(bytes)));
        // Memory and swap together, where the kernel counts swap: no swap for jobs.
        const std::string both = folder + "/memory.memsw.limit_in_bytes";
        if (exists(both)) SY_CHECK(write_file(both, fmt::to_string(bytes)));
        return {};
    }

    Status deny_devices(const StepKey& key, const StepLimits& limits) {
        SY_CHECK(make(devices_, key));
        for (const DeviceFile& device : limits.denied_devices) {
            SY_CHECK(write_file(step_path(devices_, key) + "/devices.deny",
                                fmt::format("{} {}:{} rwm", device.type, device.major_number,
                                            device.minor_number)));
        }
        return {};
    }

    Status write_state(const StepKey& key, const char* state) {
        frozen_ = true;
        return write_file(freezer_.path_of(key) + "/freezer.state", state);
    }

    Status freeze_and_wait(const StepKey& key) {
        SY_CHECK(write_state(key, "FROZEN"));
        for (int i = 0; i < kFreezeLooksMax; ++i) {
            SY_TRY(const std::string state, read_file(freezer_.path_of(key) + "/freezer.state"));
            if (state.starts_with("FROZEN")) break;
        }
        return {};
    }

    FreezerFolders freezer_{""};
    std::string cpuset_, memory_, devices_;
    std::optional<StepKey> made_for_;  // By create().
    std::vector<std::string> made_;    // Where it is limited.
    bool frozen_ = false;              // It was once: its folder is not for another step.
};

std::optional<std::string> freezer_folder(const ContainmentPlan& plan) {
    for (const auto& [controller, folder] : plan.folders) {
        if (plan.kind == "cgroup/v1" && controller == "freezer") return folder;
    }
    return std::nullopt;
}

// A new cpuset is empty and accepts nobody until it has cpus and memory nodes, all along its path.
Status inherit_cpuset(const std::string& mount, const std::string& place) {
    std::string parent = mount;
    for (const std::string_view piece : split("switchyard/" + place, '/')) {
        const std::string folder = parent + "/" + std::string(piece);
        for (const char* file : {"/cpuset.cpus", "/cpuset.mems"}) {
            SY_TRY(const std::string own, read_file(folder + file));
            if (!trim(own).empty()) continue;
            SY_TRY(const std::string given, read_file(parent + file));
            SY_CHECK(write_file(folder + file, given));
        }
        parent = folder;
    }
    return {};
}

Status prepare(const std::string& controller, const std::string& mount, const std::string& place) {
    SY_CHECK(make_folders(mount + "/switchyard/" + place, 0755));
    if (controller == "cpuset") SY_CHECK(inherit_cpuset(mount, place));
    return {};
}

}  // namespace

bool prepare_cgroup_v1(const std::vector<std::pair<std::string, std::string>>& mounts,
                       ContainmentPlan& plan) {
    bool freezer = false;
    plan.kind = "cgroup/v1";
    plan.folders.clear();
    for (const auto& [controller, mount] : mounts) {
        if (const Status ready = prepare(controller, mount, plan.place); !ready) {
            plan.notices.push_back(
                fmt::format("cgroup v1 {}: {}", controller, ready.error().message));
            continue;
        }
        plan.folders.emplace_back(controller, mount + "/switchyard/" + plan.place);
        freezer = freezer || controller == "freezer";
    }
    if (const auto folder = freezer_folder(plan)) FreezerFolders(*folder).drop_all_spares();
    for (const char* controller : {"cpuset", "memory", "freezer", "devices"}) {
        bool mounted = false;
        for (const auto& [name, mount] : mounts) mounted = mounted || name == controller;
        if (!mounted) plan.notices.push_back(fmt::format("cgroup v1 {}: not mounted", controller));
    }
    return freezer;
}

void drop_spare_walls(const ContainmentPlan& plan) {
    if (const auto folder = freezer_folder(plan)) FreezerFolders(*folder).drop_spare();
}

std::unique_ptr<Containment> make_cgroup_v1(const ContainmentPlan& plan) {
    return std::make_unique<CgroupV1>(plan);
}

}  // namespace switchyard::os
