// usage_watch.hpp: looks at what the tasks use, at growing intervals, for sstat while they run and
// for the step's record.
#pragma once

#include <functional>
#include <string>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "io/loop.hpp"
#include "model/usage.hpp"
#include "os/containment.hpp"
#include "stepd/usage_sampler.hpp"

namespace switchyard::stepd {

class UsageWatch {
  public:
    explicit UsageWatch(io::Loop& loop) : loop_(loop) {}

    // `looked` after each look. 0: nobody looks but at the end.
    void begin(os::Containment& walls, const StepKey& key, Seconds period,
               std::function<void()> looked);
    void look();
    // The cgroup is about to go, and with it the kernel's count of the whole step.
    void remember_processor_time();
    void end() { timer_ = {}; }

    UsageSampler& sampler() { return sampler_; }
    model::StepUsage usage(const std::string& node) const;

  private:
    void wait();

    io::Loop& loop_;
    os::Containment* walls_ = nullptr;
    StepKey key_;
    Millis period_{0}, pause_{0};
    std::function<void()> looked_;
    io::Loop::Timer timer_;
    UsageSampler sampler_;
    os::ProcessorTime processor_time_;  // By the kernel's count for the whole step.
};

}  // namespace switchyard::stepd
