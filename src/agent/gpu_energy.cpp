#include "agent/gpu_energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/text.hpp"

namespace switchyard::agent {
namespace {

bool is_by_srun(const StepCards& step) { return step.key.step < kInteractiveStep; }

// Of the processes on a card, those of one step.
struct OwnUse {
    bool any = false;
    double percent = 0;
};
OwnUse own_use(const StepCards& step, const gpu::CardSample& sample) {
    OwnUse use;
    for (const gpu::CardProcess& process : sample.processes) {
        if (!step.pids.contains(static_cast<pid_t>(process.pid))) continue;
        use.any = true;
        use.percent += process.sm_percent.value_or(0);
    }
    return use;
}

// What the holders of a card used of it, by job.
struct JobUse {
    double part = 1;  // Of the card, that it holds.
    double percent = 0;
    std::vector<const StepCards*> steps, busy;
};

const StepCards* worker_of(const JobUse& job) {
    return likely_worker(job.busy.empty() ? job.steps : job.busy);
}

template <class T>
std::string number_or_dash(const std::optional<T>& value) {
    return value ? fmt::to_string(*value) : "-";
}

template <class T>
std::optional<T> read_number(std::istream& words) {
    std::string word;
    words >> word;
    const auto number = parse_uint(word);
    return number ? std::optional(static_cast<T>(*number)) : std::nullopt;
}

Millis read_millis(std::istream& words) {
    std::int64_t count = 0;
    words >> count;
    return Millis{count};
}

}  // namespace

const StepCards* likely_worker(const std::vector<const StepCards*>& steps) {
    const StepCards* found = nullptr;
    for (const StepCards* step : steps) {
        if (found != nullptr && step->key.job != found->key.job) return nullptr;
        const bool later = found == nullptr || is_by_srun(*step) > is_by_srun(*found) ||
                           (is_by_srun(*step) && step->key.step > found->key.step);
        if (later) found = step;
    }
    return found;
}

double GpuEnergy::Drawn::average_milliwatts() const {
    const auto seen = static_cast<double>((until - since).count());
    return seen > 0 ? millijoules * 1000 / seen : milliwatts;
}

double GpuEnergy::between(const Reading& before, const Reading& after) {
    // A counter that went back was begun anew.
    if (before.millijoules && after.millijoules && *after.millijoules >= *before.millijoules)
        return static_cast<double>(*after.millijoules - *before.millijoules);
    if (!after.milliwatts) return 0;
    const double power = (before.milliwatts.value_or(*after.milliwatts) + *after.milliwatts) / 2.0;
    return power * static_cast<double>((after.at - before.at).count()) / 1000;
}

GpuEnergy::Parts GpuEnergy::divide(std::uint32_t device, const gpu::CardSample& sample,
                                   const std::vector<const StepCards*>& holders) const {
    std::map<JobId, JobUse> jobs;
    std::map<StepKey, double> used;
    double known = 0, all_parts = 0, others = 0;
    for (const gpu::CardProcess& process : sample.processes) {
        const bool ours = std::ranges::any_of(holders, [&](const StepCards* step) {
            return step->pids.contains(static_cast<pid_t>(process.pid));
        });
        if (!ours) others += process.sm_percent.value_or(0);
    }
    for (const StepCards* step : holders) {
        OwnUse own = own_use(*step, sample);
        const auto before = used_.find({step->key, device});
        if (!own.any && before != used_.end()) own = {true, before->second};
        JobUse& job = jobs[step->key.job];
        const auto part = step->part.find(device);
        job.part = part == step->part.end() ? 1 : part->second;
        job.percent += used[step->key] = own.percent;
        job.steps.push_back(step);
        if (own.any) job.busy.push_back(step);
        known += own.percent;
    }
    for (const auto& [id, job] : jobs) all_parts += job.part;
    const bool whole = jobs.size() == 1 && all_parts >= 1;
    Parts parts;
    for (const auto& [id, job] : jobs) {
        const double part = whole       ? 1
                            : known > 0 ? job.percent / (known + others)
                                        : job.part / std::max(all_parts, 1.0);
        if (job.percent <= 0) {
            if (part > 0) parts[worker_of(job)->key] += part;
            continue;
        }
        for (const StepCards* step : job.steps)
            parts[step->key] += part * used[step->key] / job.percent;
    }
    return parts;
}

void GpuEnergy::add_card(std::uint32_t device, const gpu::CardSample& sample, Millis at,
                         const std::vector<StepCards>& steps) {
    const Reading now{at, sample.energy_millijoules, sample.power_milliwatts};
    if (!now.millijoules && !now.milliwatts) return;
    const auto before = cards_.find(device);
    // A clock that went back is that of another start of the machine.
    const bool lasting = before != cards_.end() && before->second.at <= at;
    std::vector<const StepCards*> holders, old;
    for (const StepCards& step : steps) {
        if (!step.devices.contains(device)) continue;
        holders.push_back(&step);
        Drawn& drawn = drawn_.at(step.key);
        drawn.told = true;
        if (lasting && drawn.since <= before->second.at) old.push_back(&step);
    }
    if (!old.empty()) {
        const double all = between(before->second, now);
        for (const auto& [key, part] : divide(device, sample, old))
            drawn_.at(key).millijoules += all * part;
    }
    for (const auto& [key, part] : divide(device, sample, holders))
        drawn_.at(key).milliwatts += part * now.milliwatts.value_or(0);
    cards_[device] = now;
}

void GpuEnergy::add(const GpuSight& sight, const std::vector<StepCards>& steps) {
    for (const StepCards& step : steps) {
        Drawn& drawn = drawn_.try_emplace(step.key, Drawn{.since = sight.at}).first->second;
        drawn.until = sight.at;
        drawn.milliwatts = 0;
    }
    for (const auto& [device, sample] : sight.samples) add_card(device, sample, sight.at, steps);
    used_.clear();
    for (const StepCards& step : steps) {
        Drawn& drawn = drawn_.at(step.key);
        drawn.most_milliwatts = std::max(drawn.most_milliwatts, drawn.milliwatts);
        for (const std::uint32_t device : step.devices) {
            const auto sample = sight.samples.find(device);
            if (sample == sight.samples.end()) continue;
            const OwnUse own = own_use(step, sample->second);
            if (own.any) used_[{step.key, device}] = own.percent;
        }
    }
}

const GpuEnergy::Drawn* GpuEnergy::drawn_by(const StepKey& key) const {
    const auto found = drawn_.find(key);
    return found == drawn_.end() ? nullptr : &found->second;
}

void GpuEnergy::keep_only(const std::set<StepKey>& keys) {
    std::erase_if(drawn_, [&](const auto& each) { return !keys.contains(each.first); });
}

std::string GpuEnergy::save() const {
    std::string text;
    for (const auto& [device, last] : cards_) {
        text += fmt::format("card {} {} {} {}\n", device, last.at.count(),
                            number_or_dash(last.millijoules), number_or_dash(last.milliwatts));
    }
    for (const auto& [key, drawn] : drawn_) {
        text += fmt::format("drawn {} {} {} {} {} {} {} {} {}\n", key.job.value, key.attempt.value,
                            key.step.value, drawn.since.count(), drawn.until.count(),
                            drawn.told ? 1 : 0, drawn.millijoules, drawn.milliwatts,
                            drawn.most_milliwatts);
    }
    return text;
}

void GpuEnergy::load(std::string_view text) {
    for (const std::string_view line : split(text, '\n')) {
        std::istringstream words{std::string(line)};
        std::string what;
        words >> what;
        if (what == "card") {
            const auto device = read_number<std::uint32_t>(words);
            Reading last;
            last.at = read_millis(words);
            last.millijoules = read_number<std::uint64_t>(words);
            last.milliwatts = read_number<std::uint32_t>(words);
            if (words && device) cards_[*device] = last;
        } else if (what == "drawn") {
            StepKey key;
            Drawn drawn;
            words >> key.job.value >> key.attempt.value >> key.step.value;
            drawn.since = read_millis(words);
            drawn.until = read_millis(words);
            words >> drawn.told >> drawn.millijoules >> drawn.milliwatts >> drawn.most_milliwatts;
            if (words) drawn_[key] = drawn;
        }
    }
}

}  // namespace switchyard::agent
