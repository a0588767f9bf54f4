// containment.cpp: which kind of containment this machine offers, and what the kinds share.
#include "os/containment.hpp"

#include <fmt/format.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/text.hpp"
#include "os/cgroup_v1.hpp"
#include "os/cgroup_v2.hpp"
#include "os/files.hpp"
#include "os/no_containment.hpp"

namespace switchyard::os {
namespace {

constexpr std::uint64_t kFnvOffset = 14695981039346656037ull;
constexpr std::uint64_t kFnvPrime = 1099511628211ull;

std::uint32_t hash_of(const std::string& text) {
    std::uint64_t hash = kFnvOffset;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kFnvPrime;
    return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

struct Mounts {
    std::vector<std::pair<std::string, std::string>> v1;  // Controller, mount point.
    std::string v2;
};

// Lines of /proc/mounts: "cgroup /sys/fs/cgroup/cpuset cgroup rw,relatime,cpuset 0 0".
Mounts find_mounts() {
    Mounts found;
    const auto text = read_file("/proc/mounts");
    if (!text) return found;
    for (const std::string_view line : split(*text, '\n')) {
        const auto fields = split(line, ' ');
        if (fields.size() < 4) continue;
        if (fields[2] == "cgroup2" && found.v2.empty()) found.v2 = fields[1];
        if (fields[2] != "cgroup") continue;
        for (const std::string_view option : split(fields[3], ',')) {
            for (const std::string_view known : {"cpuset", "memory", "freezer", "devices"}) {
                if (option == known) found.v1.emplace_back(known, fields[1]);
            }
        }
    }
    return found;
}

std::optional<std::uint32_t> number_after(std::string_view text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return std::nullopt;
    const auto number = parse_uint(text.substr(prefix.size()));
    if (!number || *number > 0xffffffffu) return std::nullopt;
    return static_cast<std::uint32_t>(*number);
}

}  // namespace

std::string place_of(const std::string& cluster, const std::string& node,
                     const std::string& spool) {
    return fmt::format("{}_{:08x}/{}", cluster, hash_of(spool), node);
}

ContainmentPlan find_containment(const std::string& wanted, const std::string& place) {
    const Mounts mounts = find_mounts();
    ContainmentPlan plan;
    plan.place = place;
    const bool any = wanted.empty() || wanted == "autodetect";
    const bool has_v1 = !mounts.v1.empty();
    // A machine with both (hybrid) has its controllers in v1.
    if ((any && !has_v1 && !mounts.v2.empty()) || wanted == "cgroup/v2") {
        if (prepare_cgroup_v2(mounts.v2, plan)) return plan;
    }
    if ((any && has_v1) || wanted == "cgroup/v1") {
        if (prepare_cgroup_v1(mounts.v1, plan)) return plan;
    }
    plan.kind = "none";
    plan.folders.clear();
    return plan;
}

std::optional<DeviceFile> device_of(const std::string& path) {
    struct stat facts{};
    if (::stat(path.c_str(), &facts) != 0) return std::nullopt;
    if (!S_ISCHR(facts.st_mode) && !S_ISBLK(facts.st_mode)) return std::nullopt;
    return DeviceFile{S_ISCHR(facts.st_mode) ? 'c' : 'b', major(facts.st_rdev),
                      minor(facts.st_rdev)};
}

void Containment::signal_all(const StepKey& key, int signal) {
    for (const pid_t pid : pids(key)) ::kill(pid, signal);
}

std::unique_ptr<Containment> make_containment(const ContainmentPlan& plan, OwnerOf owner_of) {
    if (plan.kind == "cgroup/v2") return make_cgroup_v2(plan);
    if (plan.kind == "cgroup/v1") return make_cgroup_v1(plan);
    return make_no_containment(plan, std::move(owner_of));
}

std::string job_folder(const StepKey& key) {
    return fmt::format("job_{}_{}", key.job.value, key.attempt.value);
}

std::string step_folder(const StepKey& key) { return fmt::format("step_{}", key.step.value); }

std::optional<StepKey> parse_folders(const std::string& job, const std::string& step) {
    const std::size_t underscore = job.rfind('_');
    if (underscore == std::string::npos) return std::nullopt;
    const auto id = number_after(std::string_view(job).substr(0, underscore), "job_");
    const auto attempt = number_after(std::string_view(job).substr(underscore), "_");
    const auto number = number_after(step, "step_");
    if (!id || !attempt || !number) return std::nullopt;
    return StepKey{JobId{*id}, Attempt{*attempt}, StepId{*number}};
}

}  // namespace switchyard::os
