#include "agent/gpu_watch.hpp"

#include <signal.h>

#include <algorithm>
#include <utility>

namespace switchyard::agent {

GpuWatch::GpuWatch(io::Loop& loop, std::shared_ptr<gpu::Nvml> nvml,
                   std::map<std::uint32_t, std::uint32_t> cards, Seconds period, Seen seen)
    : loop_(loop),
      nvml_(std::move(nvml)),
      cards_(std::move(cards)),
      period_(period),
      seen_(std::make_shared<Seen>(std::move(seen))) {
    // Signals are the loop's.
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { run(); });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

GpuWatch::~GpuWatch() {
    {
        const std::lock_guard<std::mutex> locked(lock_);
        stop_ = true;
    }
    wake_.notify_all();
    thread_.join();
}

std::uint64_t GpuWatch::look() {
    std::uint64_t number = 0;
    {
        const std::lock_guard<std::mutex> locked(lock_);
        number = ++asked_;
    }
    wake_.notify_all();
    return number;
}

void GpuWatch::run() {
    using Clock = std::chrono::steady_clock;
    std::unique_lock<std::mutex> locked(lock_);
    Clock::time_point due = Clock::now();
    std::uint64_t answered = 0;
    while (!stop_) {
        const bool extra = Clock::now() < due;
        answered = asked_;
        locked.unlock();
        GpuSight sight = see();
        sight.asked = answered;
        sight.extra = extra;
        if (!extra) due = Clock::now() + period_;
        loop_.post([seen = std::weak_ptr<Seen>(seen_), sight = std::move(sight)] {
            if (const auto callback = seen.lock()) (*callback)(sight);
        });
        locked.lock();
        wake_.wait_until(locked, due, [&] { return stop_ || asked_ != answered; });
    }
}

GpuSight GpuWatch::see() {
    GpuSight sight;
    sight.at = std::chrono::floor<Millis>(std::chrono::steady_clock::now().time_since_epoch());
    for (const auto& [device, number] : cards_) {
        if (auto sample = nvml_->sample(number)) sight.samples[device] = *std::move(sample);
    }
    for (gpu::CardFault fault : nvml_->faults()) {
        const auto ours = std::ranges::find_if(
            cards_, [&](const auto& card) { return card.second == fault.index; });
        if (ours == cards_.end()) continue;
        fault.index = ours->first;
        sight.faults.push_back(std::move(fault));
    }
    return sight;
}

}  // namespace switchyard::agent
