// usage_sampler.hpp: what the tasks of this node use, looked at now and then and at their end.
//
// A task is the process that was started for its rank and all that descends from it; one that was
// orphaned stays with the task it was last seen under. Sums only grow: a look that comes too late
// for a process never makes a task's processor time or its peak smaller.
//
// The frequency of a task is that of the processors its processes were seen on, each weighted by
// the processor time it took since the look before.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/usage.hpp"
#include "os/frequency.hpp"
#include "os/processes.hpp"

namespace switchyard::stepd {

class UsageSampler {
  public:
    explicit UsageSampler(std::string root = "") : root_(std::move(root)) {}

    void add_task(std::uint32_t rank, pid_t pid);
    // All live processes of the step.
    void look(const std::vector<pid_t>& pids);
    // The task is dead and not yet waited for: the kernel still knows what it read and wrote, and
    // where it ran.
    void look_at_dead(pid_t pid);
    // What wait(2) said of it.
    void ended(pid_t pid, const rusage& all);

    model::StepUsage usage(const std::string& node) const;

  private:
    struct Sums {
        std::uint64_t user_us = 0, system_us = 0, major_faults = 0, read = 0, written = 0;
        std::uint64_t resident = 0, virtual_size = 0;
    };
    struct Task {
        std::uint32_t rank = 0;
        pid_t pid = 0;
        Sums peak;
        bool memory_seen = false, io_seen = false;
        double cycles = 0, timed_us = 0;  // kHz times microseconds, and the latter alone.
        std::uint64_t last_khz = 0;       // Of a task that has not used any time.
    };

    Task* find(pid_t pid);
    std::size_t owner_of(pid_t pid, const std::map<pid_t, os::ProcessUsage>& seen);
    static void add(Sums& to, const os::ProcessUsage& process);
    static void raise(Sums& to, const Sums& seen);
    void time(Task& task, pid_t pid, const os::ProcessUsage& process, os::Frequencies& now) const;
    static std::uint64_t frequency_of(const Task& task);

    std::string root_;  // Before /sys and /proc, where frequencies are read; for tests.
    std::vector<Task> tasks_;
    std::map<pid_t, std::size_t> owners_;   // By the last look.
    std::map<pid_t, std::uint64_t> times_;  // Microseconds, likewise.
};

}  // namespace switchyard::stepd
