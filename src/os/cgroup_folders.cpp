#include "os/cgroup_folders.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.hpp"
#include "os/files.hpp"

namespace switchyard::os {
namespace {

constexpr int kMakeAttemptsMax = 100;
constexpr int kDepthMax = 16;  // Of cgroups that a job made inside its own.

bool is_folder(const std::string& path) {
    struct stat facts{};
    return ::lstat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

// Kernel folders of a cgroup: a file's link count and type tell nothing, so look at each.
std::vector<std::string> subfolders(const std::string& folder) {
    std::vector<std::string> found;
    struct stat facts{};
    // A cgroup without children has two links; that saves looking at its thirty files.
    if (::stat(folder.c_str(), &facts) != 0 || facts.st_nlink <= 2) return found;
    if (const auto names = list_folder(folder)) {
        for (const std::string& name : *names) {
            if (is_folder(folder + "/" + name)) found.push_back(folder + "/" + name);
        }
    }
    return found;
}

void read_pids_into(const std::string& folder, int depth, std::vector<pid_t>& pids) {
    if (const auto text = read_file(folder + "/cgroup.procs")) {
        for (const std::string_view line : split(*text, '\n')) {
            if (const auto pid = parse_uint(line); pid && *pid > 0) {
                pids.push_back(static_cast<pid_t>(*pid));
            }
        }
    }
    if (depth >= kDepthMax) return;
    for (const std::string& below : subfolders(folder)) read_pids_into(below, depth + 1, pids);
}

Status remove_folder(const std::string& folder, int depth) {
    if (::rmdir(folder.c_str()) == 0 || errno == ENOENT) return {};
    if (errno == EBUSY && depth < kDepthMax) {
        for (const std::string& below : subfolders(folder))
            SY_CHECK(remove_folder(below, depth + 1));
        if (::rmdir(folder.c_str()) == 0 || errno == ENOENT) return {};
    }
    return errno_failure(folder);
}

}  // namespace

std::string node_path(const ContainmentPlan& plan) {
    for (const auto& [controller, folder] : plan.folders) {
        if (plan.kind == "cgroup/v2" && controller.empty()) return folder;
    }
    return {};
}

std::string job_path(const ContainmentPlan& plan, const StepKey& key) {
    const std::string node = node_path(plan);
    return node.empty() ? node : node + "/" + job_folder(key);
}

std::string step_path(const std::string& node_folder, const StepKey& key) {
    return fmt::format("{}/{}/{}", node_folder, job_folder(key), step_folder(key));
}

Status make_step_folder(const std::string& node_folder, const StepKey& key) {
    const std::string job = node_folder + "/" + job_folder(key);
    const std::string step = step_path(node_folder, key);
    for (int i = 0; i < kMakeAttemptsMax; ++i) {
        if (::mkdir(job.c_str(), 0755) != 0 && errno != EEXIST) return errno_failure(job);
        if (::mkdir(step.c_str(), 0755) == 0 || errno == EEXIST) return {};
        if (errno != ENOENT) break;
    }
    return errno_failure(step);
}

std::vector<pid_t> read_pids(const std::string& folder) {
    std::vector<pid_t> pids;
    read_pids_into(folder, 0, pids);
    return pids;
}

bool is_empty_cgroup(const std::string& folder) {
    struct stat facts{};
    if (::stat(folder.c_str(), &facts) != 0 || facts.st_nlink > 2) return false;
    const auto processes = read_file(folder + "/cgroup.procs");
    return processes && processes->empty();
}

Status remove_cgroup(const std::string& folder) { return remove_folder(folder, 0); }

Result<bool> remove_step_folder(const std::string& node_folder, const StepKey& key) {
    SY_CHECK(remove_cgroup(step_path(node_folder, key)));
    const std::string job = node_folder + "/" + job_folder(key);
    return ::rmdir(job.c_str()) == 0 || errno == ENOENT;
}

std::vector<StepKey> list_steps(const std::string& node_folder) {
    std::vector<StepKey> found;
    const auto jobs = list_folder(node_folder);
    if (!jobs) return found;
    for (const std::string& job : *jobs) {
        if (!job.starts_with("job_")) continue;
        const auto steps = list_folder(node_folder + "/" + job);
        if (!steps) continue;
        for (const std::string& step : *steps) {
            if (const auto key = parse_folders(job, step)) found.push_back(*key);
        }
    }
    return found;
}

std::uint64_t read_entry(const std::string& path, std::string_view name) {
    const auto text = read_file(path);
    if (!text) return 0;
    for (const std::string_view line : split(*text, '\n')) {
        const auto fields = split(line, ' ');
        if (fields.size() == 2 && fields[0] == name) return parse_uint(fields[1]).value_or(0);
    }
    return 0;
}

std::uint64_t read_number(const std::string& path) {
    const auto text = read_file(path);
    return text ? parse_uint(trim(*text)).value_or(0) : 0;
}

}  // namespace switchyard::os
