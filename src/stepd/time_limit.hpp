// time_limit.hpp: when a step's time is over, and when it is warned of that. It counts running time
// only: while the step stands still, so does its limit.
#pragma once

#include <functional>
#include <optional>

#include "base/time.hpp"
#include "io/loop.hpp"
#include "stepd/launch.hpp"

namespace switchyard::stepd {

class TimeLimit {
  public:
    struct Handlers {
        std::function<void()> over;
        std::function<void(int signal)> warn;
    };
    TimeLimit(io::Loop& loop, const Launch& launch, Handlers handlers)
        : loop_(loop), launch_(launch), handlers_(std::move(handlers)) {}

    void begin();  // The tasks begin now.
    void end();
    void set_deadline(std::optional<Instant> of_job);
    std::optional<Instant> deadline() const;
    bool stands_still() const { return still_since_.has_value(); }
    void set_still(bool still);

  private:
    void arm();

    io::Loop& loop_;
    const Launch& launch_;
    Handlers handlers_;
    std::optional<Instant> of_job_, of_step_;  // The step's own limit holds whatever the job's is.
    std::optional<Instant> still_since_;
    enum class Stage { Before, Running, Warned, Over } stage_ = Stage::Before;
    io::Loop::Timer over_timer_, warn_timer_;
};

}  // namespace switchyard::stepd
