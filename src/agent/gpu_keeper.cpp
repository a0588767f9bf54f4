// gpu_keeper.cpp: each look at the cards goes through the same steps. What has changed of their use
// or faults is reported; what they drew is added to the steps that had them, and saved; jobs whose
// cards have been idle for too long are named. Then whoever waits for a look is answered, if it was
// asked for before this one began.
#include "agent/gpu_keeper.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "gpu/shares.hpp"
#include "os/files.hpp"

namespace switchyard::agent {
namespace {

std::vector<model::CardUse> to_use(const GpuSight& sight) {
    std::vector<model::CardUse> all;
    for (const auto& [device, sample] : sight.samples) {
        model::CardUse& use = all.emplace_back();
        use.device = device;
        use.percent = sample.utilization_percent;
        if (sample.memory_used_bytes) use.memory = model::MiB{*sample.memory_used_bytes >> 20};
        if (sample.power_milliwatts) use.watts = (*sample.power_milliwatts + 500) / 1000;
    }
    return all;
}

// The driver's name of every card whose shares MPS keeps.
std::map<std::uint32_t, std::string> mps_cards(const std::vector<model::GresInventory>& gres) {
    std::map<std::uint32_t, std::string> cards;
    for (const model::GresInventory& shares : gres) {
        if (shares.protection != "mps") continue;
        for (const model::GresInventory& entry : gres) {
            if (entry.name != "gpu") continue;
            const auto numbers = entry.devices.to_vector();
            for (std::size_t at = 0; at < numbers.size(); ++at) {
                if (!shares.devices.contains(numbers[at])) continue;
                cards[numbers[at]] = at < entry.device_names.size() ? entry.device_names[at]
                                                                    : fmt::to_string(numbers[at]);
            }
        }
    }
    return cards;
}

}  // namespace

GpuKeeper::GpuKeeper(io::Loop& loop, const config::Config& config, const std::string& node,
                     const NodeGpus& gpus, Steps& steps, const os::Log& log, Handlers handlers)
    : loop_(loop),
      config_(config),
      gpus_(gpus),
      steps_(steps),
      log_(log),
      handlers_(std::move(handlers)),
      usage_(node),
      usage_file_(config.spool_for(node) + "/gpu_usage") {
    if (const auto text = os::read_file(usage_file_)) usage_.load(*text);
    steps_.set_card_hooks(
        {.usage_of = [this](const StepKey& key) { return usage_.usage_of(key); },
         .look = [this](std::function<void()> then) { return look(std::move(then)); },
         .is_kept = [this](pid_t pid) { return mps_ && mps_->owns(pid); }});
}

GpuKeeper::~GpuKeeper() { steps_.set_card_hooks({}); }

Status GpuKeeper::start() {
    for (const model::GresInventory& entry : gpus_.gres) {
        const bool kept = !entry.protection.empty() && entry.protection != "none";
        if (!entry.is_shared() || !kept) continue;
        SY_CHECK(gpu::prepare_guard(gpus_.share_folder));
        SY_CHECK(steps_.turns().keep(gpus_.share_folder, entry.devices));
    }
    if (auto cards = mps_cards(gpus_.gres); !cards.empty()) {
        mps_ = std::make_unique<MpsDaemons>(loop_, gpus_.share_folder, std::move(cards), log_);
        mps_->start();
    }
    if (gpus_.nvml && !gpus_.nvml_index.empty() && config_.gpu_sample_time > Seconds{0}) {
        watch_ =
            std::make_unique<GpuWatch>(loop_, gpus_.nvml, gpus_.nvml_index, config_.gpu_sample_time,
                                       [this](const GpuSight& sight) { on_sight(sight); });
    }
    return {};
}

void GpuKeeper::stop() {
    watch_.reset();
    // Steps outlive their agent, and the next one finds what keeps their shares.
    if (!steps_.all_ended() || gpus_.share_folder.empty()) return;
    if (mps_) mps_->stop();
    (void)os::remove_tree(gpus_.share_folder);
}

void GpuKeeper::on_sight(const GpuSight& sight) {
    std::vector<model::CardUse> use = to_use(sight);
    const std::string problem = problem_;
    note_faults(sight.faults);
    const bool changed = use != use_ || problem != problem_;
    use_ = std::move(use);
    if (changed) handlers_.changed();
    add_usage(sight);
    judge(sight);
    std::vector<Asked> waiting = std::exchange(asked_, {});
    for (Asked& each : waiting) {
        if (each.number > sight.asked) {
            asked_.push_back(std::move(each));
        } else if (each.then) {
            each.then();
        }
    }
}

bool GpuKeeper::look(std::function<void()> then) {
    if (!watch_) return false;
    const std::uint64_t number = watch_->look();
    if (then) asked_.push_back({number, std::move(then)});
    return true;
}

// Steps that an earlier agent started keep what it saw of them: nothing is put down to anybody
// until it is known who is there.
void GpuKeeper::add_usage(const GpuSight& sight) {
    if (steps_.recovering()) return;
    const bool had_some = !usage_.empty();
    usage_.add(sight, steps_.steps_with_cards());
    usage_.keep_only(steps_.keys());
    if (!had_some && usage_.empty()) return;
    if (const Status saved = os::write_new_file(usage_file_, usage_.save(), 0600); !saved)
        log_.error(saved.error().message);
}

// What is broken stays broken until an administrator has looked: faults only add up.
void GpuKeeper::note_faults(const std::vector<gpu::CardFault>& faults) {
    for (const gpu::CardFault& fault : faults) {
        const std::string text = fmt::format("gres/gpu {}: {}", fault.index, fault.what);
        if (!fault.fatal) {
            log_.info(text + ", the fault of a program");
            continue;
        }
        if (faults_.insert(text).second) log_.error(text);
    }
    problem_ = join(std::vector<std::string>(faults_.begin(), faults_.end()), "; ");
}

void GpuKeeper::judge(const GpuSight& sight) {
    if (config_.gpu_idle_time <= Seconds{0}) return;
    const auto held = steps_.held_gres();
    std::erase_if(jobs_, [&](const auto& each) { return !held.contains(each.first); });
    const Instant now = loop_.now();
    for (const auto& [job, gres] : held) {
        const auto [found, is_new] = jobs_.try_emplace(job);
        JobWatch& watch = found->second;
        if (is_new || is_busy(job, gres, sight)) {
            watch.busy_at = now;
            if (std::exchange(watch.told, false)) handlers_.idle(job, std::nullopt);
        } else if (!watch.told && now - watch.busy_at >= config_.gpu_idle_time) {
            watch.told = true;
            handlers_.idle(job, watch.busy_at);
        }
    }
}

void GpuKeeper::report_again() {
    for (const auto& [job, watch] : jobs_) {
        if (watch.told) handlers_.idle(job, watch.busy_at);
    }
}

// A card that does not tell is not held against anybody.
bool GpuKeeper::is_busy(const Steps::JobKey& job, const std::vector<model::GresGrant>& held,
                        const GpuSight& sight) const {
    bool has_cards = false;
    for (const model::GresGrant& gres : held) {
        std::vector<std::uint32_t> devices = gres.devices.to_vector();
        for (const auto& share : gres.shares) devices.push_back(share.device);
        for (const std::uint32_t device : devices) {
            has_cards = true;
            const auto sample = sight.samples.find(device);
            if (sample == sight.samples.end()) return true;
            const auto percent = sample->second.utilization_percent;
            if (!percent) return true;
            if (*percent < config_.gpu_idle_percent) continue;
            if (gres.shares.empty() || share_is_busy(job, sample->second)) return true;
        }
    }
    return !has_cards;
}

// Several jobs have shares of the card: it is this one's use that counts, if it can be told apart.
bool GpuKeeper::share_is_busy(const Steps::JobKey& job, const gpu::CardSample& sample) const {
    const std::set<pid_t> own = steps_.pids_of(job);
    std::uint32_t percent = 0;
    bool known = false;
    for (const gpu::CardProcess& process : sample.processes) {
        if (!process.sm_percent) continue;
        known = true;
        if (own.contains(static_cast<pid_t>(process.pid))) percent += *process.sm_percent;
    }
    return !known || percent >= config_.gpu_idle_percent;
}

}  // namespace switchyard::agent
