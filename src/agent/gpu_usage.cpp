#include "agent/gpu_usage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "base/text.hpp"

namespace switchyard::agent {
namespace {

struct OwnPart {
    std::uint64_t percent = 0, memory = 0;
};

// What the processes of a step do on a card.
std::optional<OwnPart> own_part(const StepCards& step, const gpu::CardSample& sample) {
    OwnPart part;
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

const StepCards* likely_holder(const std::vector<const StepCards*>& steps) {
    if (std::ranges::any_of(steps, &StepCards::shared)) return nullptr;
    return likely_worker(steps);
}

std::uint64_t rounded(double milli) { return static_cast<std::uint64_t>((milli + 500) / 1000); }

}  // namespace

std::map<StepKey, GpuUsage::Part> GpuUsage::parts_of(const GpuSight& sight,
                                                     const std::vector<StepCards>& steps) const {
    std::map<StepKey, Part> parts;
    std::set<StepKey> seen;
    for (const auto& [device, sample] : sight.samples) {
        std::vector<const StepCards*> holders;
        bool known = false;
        for (const StepCards& step : steps) {
            if (!step.devices.contains(device)) continue;
            holders.push_back(&step);
            const auto part = own_part(step, sample);
            if (!part) continue;
            known = true;
            seen.insert(step.key);
            parts[step.key].percent += part->percent;
            parts[step.key].memory += part->memory;
        }
        const StepCards* holder = known ? nullptr : likely_holder(holders);
        const bool is_used =
            sample.utilization_percent.value_or(0) > 0 || !sample.processes.empty();
        if (holder == nullptr || !is_used) continue;
        seen.insert(holder->key);
        parts[holder->key].percent += sample.utilization_percent.value_or(0);
        parts[holder->key].memory += sample.memory_used_bytes.value_or(0);
    }
    if (!sight.extra) return parts;
    // A look at the end of a step finds its processes gone: until then they did as before.
    for (const auto& [key, sum] : sums_) {
        if (!seen.contains(key)) parts[key].percent = sum.percent;
    }
    return parts;
}

void GpuUsage::add(const GpuSight& sight, const std::vector<StepCards>& steps) {
    std::map<StepKey, Part> parts = parts_of(sight, steps);
    for (const StepCards& step : steps) {
        Sum& sum = sums_.try_emplace(step.key, Sum{.at = sight.at}).first->second;
        const Part& part = parts[step.key];
        const Millis passed = std::max(sight.at - sum.at, Millis{0});
        sum.at = sight.at;
        sum.time += passed;
        sum.task = step.task;
        sum.percent = part.percent;
        sum.percent_time += part.percent * static_cast<std::uint64_t>(passed.count());
        sum.most_percent = std::max(sum.most_percent, part.percent);
        sum.most_memory = std::max(sum.most_memory, part.memory);
    }
    energy_.add(sight, steps);
}

model::StepUsage GpuUsage::usage_of(const StepKey& key) const {
    model::StepUsage usage;
    const auto found = sums_.find(key);
    if (found == sums_.end()) return usage;
    const Sum& sum = found->second;
    const auto add = [&](std::string_view name, std::uint64_t value, std::uint64_t most) {
        model::add(usage, name, false, {value, node_, sum.task});
        // The most it ever did stands as its extreme.
        std::ranges::find(usage.measures, name, &model::UsageMeasure::name)->max.value = most;
    };
    const auto time = static_cast<std::uint64_t>(sum.time.count());
    add("gres/gpumem", sum.most_memory, sum.most_memory);
    add("gres/gpuutil", time == 0 ? sum.percent : (sum.percent_time + time / 2) / time,
        sum.most_percent);
    const GpuEnergy::Drawn* drawn = energy_.drawn_by(key);
    if (drawn == nullptr || !drawn->told) return usage;
    const std::uint64_t joules = rounded(drawn->millijoules);
    add("energy", joules, joules);
    add("gres/gpupower", rounded(drawn->average_milliwatts()), rounded(drawn->most_milliwatts));
    return usage;
}

void GpuUsage::keep_only(const std::vector<StepKey>& keys) {
    const std::set<StepKey> kept(keys.begin(), keys.end());
    std::erase_if(sums_, [&](const auto& each) { return !kept.contains(each.first); });
    energy_.keep_only(kept);
}

std::string GpuUsage::save() const {
    std::string text;
    for (const auto& [key, sum] : sums_) {
        text +=
            fmt::format("used {} {} {} {} {} {} {} {} {} {}\n", key.job.value, key.attempt.value,
                        key.step.value, sum.at.count(), sum.time.count(), sum.percent,
                        sum.percent_time, sum.most_percent, sum.most_memory, sum.task);
    }
    return text + energy_.save();
}

void GpuUsage::load(std::string_view text) {
    for (const std::string_view line : split(text, '\n')) {
        std::istringstream words{std::string(line)};
        std::string what;
        StepKey key;
        Sum sum;
        std::int64_t at = 0, time = 0;
        words >> what >> key.job.value >> key.attempt.value >> key.step.value >> at >> time >>
            sum.percent >> sum.percent_time >> sum.most_percent >> sum.most_memory >> sum.task;
        if (what != "used" || !words) continue;
        sum.at = Millis{at};
        sum.time = Millis{time};
        sums_[key] = sum;
    }
    energy_.load(text);
}

}  // namespace switchyard::agent
