#include "stepd/usage_sampler.hpp"

#include <algorithm>

namespace switchyard::stepd {
namespace {

std::uint64_t micros(const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 +
           static_cast<std::uint64_t>(time.tv_usec);
}

}  // namespace

void UsageSampler::add_task(std::uint32_t rank, pid_t pid) {
    Task task;
    task.rank = rank;
    task.pid = pid;
    tasks_.push_back(task);
}

UsageSampler::Task* UsageSampler::find(pid_t pid) {
    const auto task = std::ranges::find(tasks_, pid, &Task::pid);
    return task == tasks_.end() ? nullptr : &*task;
}

std::size_t UsageSampler::owner_of(pid_t pid, const std::map<pid_t, os::ProcessUsage>& seen) {
    for (pid_t at = pid;;) {
        if (const Task* task = find(at)) return static_cast<std::size_t>(task - tasks_.data());
        const auto process = seen.find(at);
        if (process == seen.end()) break;
        at = process->second.parent;
    }
    const auto known = owners_.find(pid);
    return known == owners_.end() ? 0 : known->second;
}

void UsageSampler::add(Sums& to, const os::ProcessUsage& process) {
    to.user_us += process.user_us;
    to.system_us += process.system_us;
    to.major_faults += process.major_faults;
    if (process.io) to.read += process.io->read;
    if (process.io) to.written += process.io->written;
    to.resident += process.resident;
    to.virtual_size += process.virtual_size;
}

void UsageSampler::raise(Sums& to, const Sums& seen) {
    to.user_us = std::max(to.user_us, seen.user_us);
    to.system_us = std::max(to.system_us, seen.system_us);
    to.major_faults = std::max(to.major_faults, seen.major_faults);
    to.read = std::max(to.read, seen.read);
    to.written = std::max(to.written, seen.written);
    to.resident = std::max(to.resident, seen.resident);
    to.virtual_size = std::max(to.virtual_size, seen.virtual_size);
}

void UsageSampler::time(Task& task, pid_t pid, const os::ProcessUsage& process,
                        os::Frequencies& now) const {
    const auto khz = now.of_cpu(process.cpu);
    if (!khz) return;
    if (pid == task.pid || task.last_khz == 0) task.last_khz = *khz;
    const std::uint64_t used = process.user_us + process.system_us;
    const auto before = times_.find(pid);
    const std::uint64_t known = before == times_.end() ? 0 : before->second;
    if (used <= known) return;
    const auto fresh = static_cast<double>(used - known);
    task.cycles += fresh * static_cast<double>(*khz);
    task.timed_us += fresh;
}

std::uint64_t UsageSampler::frequency_of(const Task& task) {
    if (task.timed_us <= 0) return task.last_khz;
    return static_cast<std::uint64_t>(task.cycles / task.timed_us + 0.5);
}

void UsageSampler::look(const std::vector<pid_t>& pids) {
    if (tasks_.empty()) return;
    std::map<pid_t, os::ProcessUsage> seen;
    std::map<pid_t, std::uint64_t> times;
    os::Frequencies frequencies(root_);
    for (const pid_t pid : pids) {
        if (const auto process = os::read_usage(pid)) seen.emplace(pid, *process);
    }
    std::vector<Sums> sums(tasks_.size());
    std::map<pid_t, std::size_t> owners;
    for (const auto& [pid, process] : seen) {
        const std::size_t owner = owner_of(pid, seen);
        owners.emplace(pid, owner);
        add(sums[owner], process);
        Task& task = tasks_[owner];
        // The kernel knows the peak of each single process better than our looks do.
        task.peak.resident = std::max(task.peak.resident, process.peak_resident);
        task.memory_seen |= process.resident > 0;
        task.io_seen |= process.io.has_value();
        time(task, pid, process, frequencies);
        times.emplace(pid, process.user_us + process.system_us);
    }
    for (std::size_t i = 0; i < tasks_.size(); ++i) raise(tasks_[i].peak, sums[i]);
    owners_ = std::move(owners);
    times_ = std::move(times);
}

void UsageSampler::look_at_dead(pid_t pid) {
    Task* task = find(pid);
    if (task == nullptr) return;
    // A short task was perhaps never seen alive.
    os::Frequencies frequencies(root_);
    if (const auto process = os::read_usage(pid)) time(*task, pid, *process, frequencies);
    const auto io = os::read_io(pid);
    if (!io) return;
    Sums sums;
    sums.read = io->read;
    sums.written = io->written;
    raise(task->peak, sums);
    task->io_seen = true;
}

void UsageSampler::ended(pid_t pid, const rusage& all) {
    Task* task = find(pid);
    if (task == nullptr) return;
    Sums sums;
    sums.user_us = micros(all.ru_utime);
    sums.system_us = micros(all.ru_stime);
    sums.major_faults = static_cast<std::uint64_t>(all.ru_majflt);
    // A child begins as a copy of us, and the kernel counts that as its own: less than our own peak
    // says nothing about the program.
    const std::uint64_t peak = static_cast<std::uint64_t>(all.ru_maxrss) * 1024;
    rusage own{};
    ::getrusage(RUSAGE_SELF, &own);
    if (peak > static_cast<std::uint64_t>(own.ru_maxrss) * 1024) {
        sums.resident = peak;
        task->memory_seen = true;
    }
    raise(task->peak, sums);
}

model::StepUsage UsageSampler::usage(const std::string& node) const {
    model::StepUsage usage;
    for (const Task& task : tasks_) {
        const auto part = [&](std::string_view name, bool out, std::uint64_t value) {
            model::add(usage, name, out, {.value = value, .node = node, .task = task.rank});
        };
        const Sums& sums = task.peak;
        usage.user_us += sums.user_us;
        usage.system_us += sums.system_us;
        part("cpu", false, (sums.user_us + sums.system_us) / 1000);
        part("pages", false, sums.major_faults);
        if (task.memory_seen) part("mem", false, sums.resident);
        if (sums.virtual_size > 0) part("vmem", false, sums.virtual_size);
        if (const std::uint64_t khz = frequency_of(task); khz > 0)
            part(model::kFrequency, false, khz);
        if (!task.io_seen) continue;
        part("fs/disk", false, sums.read);
        part("fs/disk", true, sums.written);
    }
    return usage;
}

}  // namespace switchyard::stepd
