#include "stepd/time_limit.hpp"

#include <algorithm>

#include "os/machine.hpp"

namespace switchyard::stepd {
namespace {

// The batch script hears of the time limit first and its steps so much later, so that it does not
// go on to its next line because a step ended.
constexpr Millis kStepsAfterScript{500};

}  // namespace

void TimeLimit::begin() {
    stage_ = Stage::Running;
    const auto& limit = launch_.spec.time_limit;
    if (limit && !limit->unlimited) of_step_ = os::now() + limit->seconds;
    arm();
}

void TimeLimit::end() {
    stage_ = Stage::Over;
    arm();
}

void TimeLimit::set_deadline(std::optional<Instant> of_job) {
    of_job_ = of_job;
    arm();
}

std::optional<Instant> TimeLimit::deadline() const {
    if (!of_step_) return of_job_;
    return std::min(of_job_.value_or(*of_step_), *of_step_);
}

void TimeLimit::set_still(bool still) {
    if (still) {
        still_since_ = os::now();
    } else {
        const Millis lost = os::now() - *still_since_;
        if (of_job_) *of_job_ += lost;
        if (of_step_) *of_step_ += lost;
        still_since_.reset();
    }
    arm();
}

void TimeLimit::arm() {
    over_timer_ = {};
    warn_timer_ = {};
    const auto end = deadline();
    if (!end || still_since_ || stage_ == Stage::Before || stage_ == Stage::Over) return;
    const bool of_script = !launch_.is_batch() && launch_.job.spec->kind == model::JobKind::Batch;
    over_timer_ =
        loop_.at(*end + (of_script ? kStepsAfterScript : Millis{0}), [this] { handlers_.over(); });
    const model::WarnSignal& own = launch_.command.warn_signal;
    const model::WarnSignal& warn = own.signal != 0 ? own : launch_.job.spec->warn_signal;
    // "B:" is for the batch shell only, the plain form for the steps only.
    const bool is_meant = warn.signal != 0 && warn.batch_only == launch_.is_batch();
    if (stage_ == Stage::Warned || !is_meant) return;
    warn_timer_ = loop_.at(*end - warn.before, [this, signal = warn.signal] {
        stage_ = Stage::Warned;
        handlers_.warn(signal);
    });
}

}  // namespace switchyard::stepd
