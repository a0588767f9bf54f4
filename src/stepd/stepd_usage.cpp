// stepd_usage.cpp: what the tasks use, for sstat while they run and for the step's record.
#include <algorithm>

#include "stepd/stepd.hpp"

namespace switchyard::stepd {
namespace {

// The first looks come sooner than the period, so that short steps have figures too.
constexpr Millis kFirstLook{100};
constexpr int kSlower = 4;

}  // namespace

void Stepd::watch_usage() {
    const Millis period{launch_.sample_period};
    if (period <= Millis{0}) return;
    usage_pause_ = std::min(std::max(usage_pause_ * kSlower, kFirstLook), period);
    usage_timer_ = loop_.after(usage_pause_, [this] {
        if (stage_ != Stage::Running) return;
        look_at_usage();
        send_status();
        watch_usage();
    });
}

void Stepd::look_at_usage() {
    sampler_.look(walls_->pids(launch_.key));
    remember_processor_time();
}

void Stepd::remember_processor_time() { processor_time_ = walls_->processor_time(launch_.key); }

// The kernel's count of the whole step also has what no task waited for.
model::StepUsage Stepd::usage() const {
    model::StepUsage usage = sampler_.usage(launch_.node);
    if (processor_time_.user_us + processor_time_.system_us > usage.user_us + usage.system_us) {
        usage.user_us = processor_time_.user_us;
        usage.system_us = processor_time_.system_us;
    }
    return usage;
}

}  // namespace switchyard::stepd
