// usage.hpp: what the tasks of a step used, and which of them used most and least.
//
// A measure is one resource in one direction, summed over the tasks, with its extremes. Names are
// those of Slurm's TRES: "cpu" (milliseconds), "mem" and "vmem" (bytes, the most each task ever
// had), "pages" (major faults), "fs/disk" (bytes read; with `out`, written). Whatever else a node
// can measure (gres/gpuutil, gres/gpumem) is one more measure. The frequency of a task's processors
// (kFrequency, kHz) is kept among them, but it is no TRES and not told as one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace switchyard::model {

inline constexpr std::string_view kFrequency = "frequency";

struct UsageMark {
    std::uint64_t value = 0;
    std::string node;
    std::uint32_t task = 0;  // Rank.
    bool operator==(const UsageMark&) const = default;
};

struct UsageMeasure {
    std::string name;
    bool out = false;
    std::uint64_t total = 0;
    std::uint64_t tasks = 0;  // How many the total is of.
    UsageMark max, min;
    std::uint64_t average() const { return tasks == 0 ? 0 : total / tasks; }
    bool operator==(const UsageMeasure&) const = default;
};

struct StepUsage {
    std::uint64_t user_us = 0, system_us = 0;  // Processor time of all its processes.
    std::vector<UsageMeasure> measures;        // By name, inwards before outwards.
    bool empty() const { return user_us == 0 && system_us == 0 && measures.empty(); }
    bool operator==(const StepUsage&) const = default;
};

// One task's part of a measure.
void add(StepUsage& to, std::string_view name, bool out, const UsageMark& part);
// What another node says of the same step.
void merge(StepUsage& to, const StepUsage& from);
// Null: nobody measured it.
const UsageMeasure* find_measure(const StepUsage& usage, std::string_view name, bool out = false);

}  // namespace switchyard::model
