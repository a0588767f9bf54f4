#include "os/processes.hpp"

#include <dirent.h>
#include <unistd.h>

#include <map>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "os/files.hpp"
#include "os/spawn.hpp"

namespace switchyard::os {
namespace {

std::vector<pid_t> list_pids() {
    std::vector<pid_t> pids;
    DIR* folder = ::opendir("/proc");
    if (folder == nullptr) return pids;
    while (const dirent* entry = ::readdir(folder)) {
        if (const auto pid = parse_uint(entry->d_name)) pids.push_back(static_cast<pid_t>(*pid));
    }
    ::closedir(folder);
    return pids;
}

constexpr std::size_t kCpuField = 39;

// /proc/PID/stat: "12 (a name) S 1 12 12 ...": the name may hold anything, so count from its last
// bracket. Fields have the numbers that proc(5) gives them.
struct Stat {
    std::string text;
    std::vector<std::string_view> fields;  // From the state on, which is the third.
    char state = '?';
    std::string name;
    std::uint64_t number(std::size_t field) const {
        return parse_uint(fields[field - 3]).value_or(0);
    }
};

std::optional<Stat> read_stat(pid_t pid) {
    auto text = read_file("/proc/" + std::to_string(pid) + "/stat");
    if (!text) return std::nullopt;
    Stat stat;
    stat.text = *std::move(text);
    const std::size_t open = stat.text.find('('), bracket = stat.text.rfind(')');
    if (open == std::string::npos || bracket == std::string::npos) return std::nullopt;
    stat.name = stat.text.substr(open + 1, bracket - open - 1);
    stat.fields = split(trim(std::string_view(stat.text).substr(bracket + 1)), ' ');
    if (stat.fields.size() < 22 || stat.fields[0].empty()) return std::nullopt;
    stat.state = stat.fields[0][0];
    return stat;
}

// Of a line "name:   12 kB".
std::optional<std::uint64_t> value_of(std::string_view text, std::string_view name) {
    for (std::string_view line : split(text, '\n')) {
        if (!line.starts_with(name)) continue;
        line = trim(line.substr(name.size()));
        return parse_uint(line.substr(0, line.find(' ')));
    }
    return std::nullopt;
}

}  // namespace

std::optional<Process> read_process(pid_t pid) {
    const auto stat = read_stat(pid);
    if (!stat) return std::nullopt;
    Process found;
    found.pid = pid;
    found.state = stat->state;
    found.name = stat->name;
    found.parent = static_cast<pid_t>(stat->number(4));
    found.session = static_cast<pid_t>(stat->number(6));
    found.resident = stat->number(24) * static_cast<std::uint64_t>(::getpagesize());
    found.started = stat->number(22);
    return found;
}

std::optional<ProcessUsage> read_usage(pid_t pid) {
    const auto stat = read_stat(pid);
    if (!stat) return std::nullopt;
    const auto ticks = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
    const std::string folder = "/proc/" + std::to_string(pid);
    ProcessUsage found;
    found.parent = static_cast<pid_t>(stat->number(4));
    found.major_faults = stat->number(12) + stat->number(13);
    found.user_us = (stat->number(14) + stat->number(16)) * 1'000'000 / ticks;
    found.system_us = (stat->number(15) + stat->number(17)) * 1'000'000 / ticks;
    if (stat->fields.size() > kCpuField - 3)
        found.cpu = static_cast<std::uint32_t>(stat->number(kCpuField));
    found.virtual_size = stat->number(23);
    found.resident = stat->number(24) * static_cast<std::uint64_t>(::getpagesize());
    if (const auto status = read_file(folder + "/status")) {
        found.peak_resident = value_of(*status, "VmHWM:").value_or(0) * 1024;
    }
    found.io = read_io(pid);
    return found;
}

std::optional<ProcessIo> read_io(pid_t pid) {
    const auto io = read_file("/proc/" + std::to_string(pid) + "/io");
    if (!io) return std::nullopt;
    const auto read = value_of(*io, "rchar:");
    const auto written = value_of(*io, "wchar:");
    if (!read || !written) return std::nullopt;
    return ProcessIo{.read = *read, .written = *written};
}

std::vector<Process> list_processes() {
    std::vector<Process> all;
    for (const pid_t pid : list_pids()) {
        if (const auto process = read_process(pid)) all.push_back(*process);
    }
    return all;
}

std::vector<pid_t> descendants(const std::vector<Process>& all, pid_t root) {
    std::multimap<pid_t, const Process*> children;
    for (const Process& process : all) children.emplace(process.parent, &process);
    std::vector<pid_t> found;
    std::vector<pid_t> open{root};
    while (!open.empty()) {
        const auto [first, last] = children.equal_range(open.back());
        open.pop_back();
        for (auto it = first; it != last; ++it) {
            open.push_back(it->second->pid);
            if (it->second->state != 'Z') found.push_back(it->second->pid);
        }
    }
    return found;
}

std::optional<uid_t> user_of(pid_t pid) {
    const auto status = read_file("/proc/" + std::to_string(pid) + "/status");
    if (!status) return std::nullopt;
    for (std::string_view line : split(*status, '\n')) {
        if (!line.starts_with("Uid:")) continue;
        line = trim(line.substr(4));
        const auto uid = parse_uint(line.substr(0, line.find('\t')));
        if (uid) return static_cast<uid_t>(*uid);
    }
    return std::nullopt;
}

void signal_process(const Process& seen, int signal) {
    const auto process = open_pidfd(seen.pid);
    if (!process) return;
    // What has the number now keeps it while the descriptor is open.
    const auto now = read_process(seen.pid);
    if (!now || now->started != seen.started) return;
    signal_pidfd(*process, signal);
}

bool has_environment(pid_t pid, uid_t owner, std::string_view assignment) {
    if (user_of(pid) != owner) return false;
    const auto text = read_file("/proc/" + std::to_string(pid) + "/environ");
    if (!text) return false;
    for (const std::string_view entry : split(*text, '\0')) {
        if (entry == assignment) return true;
    }
    return false;
}

std::uint64_t resident_bytes(const std::vector<pid_t>& pids) {
    std::uint64_t sum = 0;
    for (const pid_t pid : pids) {
        if (const auto process = read_process(pid)) sum += process->resident;
    }
    return sum;
}

}  // namespace switchyard::os
