#include "agent/gpu_usage.hpp"

#include <algorithm>

namespace switchyard::agent {
namespace {

struct Part {
    std::uint64_t percent = 0, memory = 0;
};

// What the processes of a step do on a card.
std::optional<Part> own_part(const StepCards& step, const gpu::CardSample& sample) {
    Part part;
    bool any = false, told = false;
    for (const gpu::CardProcess& process : sample.processes) {
        if (!step.pids.contains(static_cast<pid_t>(process.pid))) continue;
        any = true;
        part.memory += process.memory_bytes;
        told |= process.sm_percent.has_value();
        part.percent += process.sm_percent.value_or(0);
    }
    if (!any) return std::nullopt;
    // Some cards tell only of themselves.
    if (!told && !step.shared) part.percent = sample.utilization_percent.value_or(0);
    return part;
}

bool is_by_srun(const StepCards& step) { return step.key.step < kInteractiveStep; }

// Of the steps of one job, the one that most likely works: the last that srun made.
const StepCards* likely_holder(const std::vector<const StepCards*>& steps) {
    const StepCards* found = nullptr;
    for (const StepCards* step : steps) {
        if (step->shared || (found != nullptr && step->key.job != found->key.job)) return nullptr;
        const bool later = found == nullptr || is_by_srun(*step) > is_by_srun(*found) ||
                           (is_by_srun(*step) && step->key.step > found->key.step);
        if (later) found = step;
    }
    return found;
}

}  // namespace

void GpuUsage::add(const GpuSight& sight, const std::vector<StepCards>& steps) {
    std::map<StepKey, Part> parts;
    for (const StepCards& step : steps) parts[step.key];
    for (const auto& [device, sample] : sight.samples) {
        std::vector<const StepCards*> holders;
        bool known = false;
        for (const StepCards& step : steps) {
            if (!step.devices.contains(device)) continue;
            holders.push_back(&step);
            const auto part = own_part(step, sample);
            if (!part) continue;
            known = true;
            parts[step.key].percent += part->percent;
            parts[step.key].memory += part->memory;
        }
        const StepCards* holder = known ? nullptr : likely_holder(holders);
        const bool is_used =
            sample.utilization_percent.value_or(0) > 0 || !sample.processes.empty();
        if (holder == nullptr || !is_used) continue;
        parts[holder->key].percent += sample.utilization_percent.value_or(0);
        parts[holder->key].memory += sample.memory_used_bytes.value_or(0);
    }
    std::erase_if(sums_, [&](const auto& each) { return !parts.contains(each.first); });
    for (const StepCards& step : steps) {
        Sum& sum = sums_[step.key];
        const Part& part = parts[step.key];
        sum.task = step.task;
        sum.percent += part.percent;
        ++sum.looks;
        sum.most_percent = std::max(sum.most_percent, part.percent);
        sum.most_memory = std::max(sum.most_memory, part.memory);
    }
}

model::StepUsage GpuUsage::usage_of(const StepKey& key) const {
    model::StepUsage usage;
    const auto found = sums_.find(key);
    if (found == sums_.end() || found->second.looks == 0) return usage;
    const Sum& sum = found->second;
    const std::uint64_t average = (sum.percent + sum.looks / 2) / sum.looks;
    model::add(usage, "gres/gpumem", false, {sum.most_memory, node_, sum.task});
    model::add(usage, "gres/gpuutil", false, {average, node_, sum.task});
    // The most it ever did stands as its extreme.
    usage.measures.back().max.value = sum.most_percent;
    return usage;
}

}  // namespace switchyard::agent
