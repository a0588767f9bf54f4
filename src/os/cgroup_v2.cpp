// cgroup_v2.cpp: containment by the unified hierarchy.
//
// A step that the kernel tracks here is killed and frozen by one write, whatever it forks
// meanwhile. cpuset and memory are used where they can be enabled; tracking works without any
// controller. Devices are refused by a BPF program on the step's folder (device_filter).
#include "os/cgroup_v2.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>

#include <map>

#include "base/text.hpp"
#include "io/fd.hpp"
#include "os/cgroup_folders.hpp"
#include "os/device_filter.hpp"
#include "os/files.hpp"
#include "os/processes.hpp"

namespace switchyard::os {
namespace {

constexpr const char* kControllers[] = {"cpuset", "memory"};

bool has_word(const std::string& path, std::string_view word) {
    const auto text = read_file(path);
    if (!text) return false;
    for (const std::string_view piece : split(trim(*text), ' ')) {
        if (piece == word) return true;
    }
    return false;
}

class CgroupV2 final : public Containment {
  public:
    explicit CgroupV2(const ContainmentPlan& plan) {
        for (const auto& [controller, folder] : plan.folders) {
            if (controller.empty()) node_ = folder;
            if (controller == "cpuset") cpuset_ = true;
            if (controller == "memory") memory_ = true;
        }
    }

    Status create(const StepKey& key, const StepLimits& limits) override {
        SY_CHECK(make_step_folder(node_, key));
        const std::string job = node_ + "/" + job_folder(key);
        const std::string step = step_path(node_, key);
        if (cpuset_) SY_CHECK(write_file(job + "/cgroup.subtree_control", "+cpuset"));
        if (memory_) SY_CHECK(write_file(job + "/cgroup.subtree_control", "+memory"));
        if (cpuset_ && !limits.job_cpus.empty()) {
            SY_CHECK(write_file(job + "/cpuset.cpus", to_string(limits.job_cpus)));
            if (!limits.step_cpus.empty()) {
                SY_CHECK(write_file(step + "/cpuset.cpus", to_string(limits.step_cpus)));
            }
        }
        if (memory_ && limits.job_memory) SY_CHECK(limit_memory(job, *limits.job_memory));
        if (memory_ && limits.step_memory) SY_CHECK(limit_memory(step, *limits.step_memory));
        // On the step, not the job: a cgroup takes a limited number of programs, a job has many
        // steps.
        return deny_devices(step, limits.denied_devices);
    }

    Result<Entrance> entrance(const StepKey& key) override {
        const std::string step = step_path(node_, key);
        io::Fd folder(::open(step.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
        if (!folder) return errno_failure(step);
        Entrance way;
        way.folder = folder.get();
        open_[key] = std::move(folder);
        return way;
    }

    std::vector<pid_t> pids(const StepKey& key) override {
        return read_pids(step_path(node_, key));
    }

    void kill_all(const StepKey& key) override {
        // cgroup.kill came with Linux 5.14.
        if (write_file(step_path(node_, key) + "/cgroup.kill", "1")) return;
        signal_all(key, SIGKILL);
    }

    Status set_frozen(const StepKey& key, bool frozen) override {
        return write_file(step_path(node_, key) + "/cgroup.freeze", frozen ? "1" : "0");
    }

    std::uint64_t oom_kills(const StepKey& key) override {
        return memory_ ? read_entry(step_path(node_, key) + "/memory.events", "oom_kill") : 0;
    }

    MemoryUse memory_use(const StepKey& key) override {
        if (!memory_) return {.bytes = resident_bytes(pids(key)), .peak_bytes = 0};
        const std::string step = step_path(node_, key);
        return {.bytes = read_number(step + "/memory.current"),
                .peak_bytes = read_number(step + "/memory.peak")};
    }

    ProcessorTime processor_time(const StepKey& key) override {
        ProcessorTime found;
        const auto time = read_file(step_path(node_, key) + "/cpu.stat");
        for (const std::string_view line : split(time ? *time : std::string(), '\n')) {
            const auto value = parse_uint(line.substr(line.find(' ') + 1));
            if (line.starts_with("user_usec ")) found.user_us = value.value_or(0);
            if (line.starts_with("system_usec ")) found.system_us = value.value_or(0);
        }
        return found;
    }

    Result<bool> remove(const StepKey& key) override {
        open_.erase(key);
        return remove_step_folder(node_, key);
    }

    std::vector<StepKey> existing() override { return list_steps(node_); }
    bool limits_memory() const override { return memory_; }
    bool pins_cores() const override { return cpuset_; }

  private:
    static Status limit_memory(const std::string& folder, std::uint64_t bytes) {
        SY_CHECK(write_file(folder + "/memory.max", fmt::to_string(bytes)));
        const std::string swap = folder + "/memory.swap.max";
        if (exists(swap)) SY_CHECK(write_file(swap, "0"));
        return {};
    }

    std::string node_;
    bool cpuset_ = false, memory_ = false;
    std::map<StepKey, io::Fd> open_;
};

// Enables what can be enabled from `top` down to the node's folder; true for what arrived there.
bool enable(const std::string& top, const std::string& place, const std::string& controller) {
    std::string folder = top;
    if (!has_word(folder + "/cgroup.controllers", controller)) return false;
    std::vector<std::string> path{folder};
    for (const std::string_view piece : split("switchyard/" + place, '/')) {
        path.push_back(path.back() + "/" + std::string(piece));
    }
    for (const std::string& each : path) {
        if (!write_file(each + "/cgroup.subtree_control", "+" + controller)) return false;
    }
    return true;
}

bool prepare_below(const std::string& top, ContainmentPlan& plan) {
    const std::string node = top + "/switchyard/" + plan.place;
    if (const Status made = make_folders(node, 0755); !made) {
        plan.notices.push_back(fmt::format("cgroup v2: {}", made.error().message));
        return false;
    }
    plan.kind = "cgroup/v2";
    plan.folders.assign(1, {"", node});
    if (can_deny_devices()) {
        plan.folders.emplace_back("devices", node);
    } else {
        plan.notices.emplace_back("cgroup v2: devices cannot be constrained");
    }
    for (const char* controller : kControllers) {
        if (enable(top, plan.place, controller)) {
            plan.folders.emplace_back(controller, node);
        } else {
            plan.notices.push_back(fmt::format("cgroup v2: no {} controller", controller));
        }
    }
    // Memory of cards: drivers that limit it use this where the kernel has it. Down to the jobs and
    // no further, so that their steps are under the job's limit and told of it.
    (void)enable(top, plan.place, "dmem");
    return true;
}

// This process's own cgroup: "0::/user.slice/..." in /proc/self/cgroup.
std::string own_folder(const std::string& mount) {
    const auto text = read_file("/proc/self/cgroup");
    if (!text) return {};
    for (const std::string_view line : split(*text, '\n')) {
        if (line.starts_with("0::/")) return mount + std::string(line.substr(3));
    }
    return {};
}

}  // namespace

bool prepare_cgroup_v2(const std::string& mount, ContainmentPlan& plan) {
    if (mount.empty()) {
        plan.notices.emplace_back("cgroup v2: not mounted");
        return false;
    }
    if (prepare_below(mount, plan)) return true;
    const std::string own = own_folder(mount);
    if (own.empty() || own == mount + "/") return false;
    // A cgroup with processes of its own cannot hand controllers down: step into a leaf first.
    if (!make_folders(own + "/switchyard-agent", 0755)) return false;
    if (!write_file(own + "/switchyard-agent/cgroup.procs", "0")) return false;
    return prepare_below(own, plan);
}

std::unique_ptr<Containment> make_cgroup_v2(const ContainmentPlan& plan) {
    return std::make_unique<CgroupV2>(plan);
}

}  // namespace switchyard::os
