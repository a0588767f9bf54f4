#include "stepd/usage_watch.hpp"

#include <algorithm>

namespace switchyard::stepd {
namespace {

// The first looks come sooner than the period, so that short steps have figures too.
constexpr Millis kFirstLook{100};
constexpr int kSlower = 4;

}  // namespace

void UsageWatch::begin(os::Containment& walls, const StepKey& key, Seconds period,
                       std::function<void()> looked) {
    walls_ = &walls;
    key_ = key;
    period_ = period;
    looked_ = std::move(looked);
    if (period_ > Millis{0}) wait();
}

void UsageWatch::wait() {
    pause_ = std::min(std::max(pause_ * kSlower, kFirstLook), period_);
    timer_ = loop_.after(pause_, [this] {
        look();
        looked_();
        wait();
    });
}

void UsageWatch::look() {
    sampler_.look(walls_->pids(key_));
    remember_processor_time();
}

void UsageWatch::remember_processor_time() {
    if (walls_ != nullptr) processor_time_ = walls_->processor_time(key_);
}

// The kernel's count of the whole step also has what no task waited for.
model::StepUsage UsageWatch::usage(const std::string& node) const {
    model::StepUsage usage = sampler_.usage(node);
    if (processor_time_.user_us + processor_time_.system_us > usage.user_us + usage.system_us) {
        usage.user_us = processor_time_.user_us;
        usage.system_us = processor_time_.system_us;
    }
    return usage;
}

}  // namespace switchyard::stepd
