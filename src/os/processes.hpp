// processes.hpp: looking around in /proc.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchyard::os {

struct Process {
    pid_t pid = 0, parent = 0, session = 0;
    char state = '?';            // 'Z': dead, not yet waited for.
    std::uint64_t resident = 0;  // Bytes.
    std::string name = {};       // Of its program, at most 15 characters.
    std::uint64_t started = 0;  // In clock ticks after boot: with its number, one process for good.
};

std::vector<Process> list_processes();
std::optional<Process> read_process(pid_t pid);

// All that descend from `root`, without it; zombies left out.
std::vector<pid_t> descendants(const std::vector<Process>& all, pid_t root);

// Whose process it is: the real user, also of a program with the rights of another. None: it is
// gone.
std::optional<uid_t> user_of(pid_t pid);

// Whether a process of this user was started with this "NAME=value". Anybody can set any variable,
// so what it says holds for its own user and for nobody else. False also when it may not be read.
bool has_environment(pid_t pid, uid_t owner, std::string_view assignment);

// Signals the process that was seen, and not another that was given its number since.
void signal_process(const Process& seen, int signal);

// What a process read and wrote: also of one that is dead, until somebody has waited for it.
struct ProcessIo {
    std::uint64_t read = 0, written = 0;  // Bytes, by any system call.
};
// None where it may not be seen: another user's process may be looked at by root alone.
std::optional<ProcessIo> read_io(pid_t pid);

// What a process uses and used, with the children it has waited for.
struct ProcessUsage {
    pid_t parent = 0;
    std::uint64_t user_us = 0, system_us = 0, major_faults = 0;
    std::uint64_t resident = 0, peak_resident = 0, virtual_size = 0;  // Bytes.
    std::uint32_t cpu = 0;                                            // It last ran on.
    std::optional<ProcessIo> io = {};
};
std::optional<ProcessUsage> read_usage(pid_t pid);

std::uint64_t resident_bytes(const std::vector<pid_t>& pids);

}  // namespace switchyard::os
