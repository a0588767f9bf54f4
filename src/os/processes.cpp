#include "os/processes.hpp"

#include <dirent.h>
#include <unistd.h>

#include <map>

#include "base/text.hpp"
#include "os/files.hpp"

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

}  // namespace

std::optional<Process> read_process(pid_t pid) {
    const auto text = read_file("/proc/" + std::to_string(pid) + "/stat");
    if (!text) return std::nullopt;
    // "12 (a name) S 1 12 12 ...": the name may hold anything, so count from its last bracket.
    const std::size_t open = text->find('('), bracket = text->rfind(')');
    if (open == std::string::npos || bracket == std::string::npos) return std::nullopt;
    const auto fields = split(trim(std::string_view(*text).substr(bracket + 1)), ' ');
    if (fields.size() < 22 || fields[0].empty()) return std::nullopt;
    Process found;
    found.pid = pid;
    found.state = fields[0][0];
    found.name = text->substr(open + 1, bracket - open - 1);
    found.parent = static_cast<pid_t>(parse_uint(fields[1]).value_or(0));
    found.session = static_cast<pid_t>(parse_uint(fields[3]).value_or(0));
    found.resident =
        parse_uint(fields[21]).value_or(0) * static_cast<std::uint64_t>(::getpagesize());
    return found;
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

bool has_environment(pid_t pid, std::string_view assignment) {
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
