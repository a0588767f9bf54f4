#include "model/job.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

namespace switchyard::model {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
    using Cases::operator()...;
};

}  // namespace

ExitStatus ExitStatus::from_wait(int status) {
    if (WIFSIGNALED(status)) return {0, WTERMSIG(status)};
    if (WIFEXITED(status)) return {WEXITSTATUS(status), 0};
    return {};
}

int ExitStatus::to_wait() const { return (code & 0xff) << 8 | (signal & 0x7f); }

std::string to_string(const ExitStatus& status) {
    return fmt::format("{}:{}", status.code, status.signal);
}

bool Job::operator==(const Job& other) const {
    const bool same_spec =
        spec == other.spec || (spec != nullptr && other.spec != nullptr && *spec == *other.spec);
    return same_spec && id == other.id && het == other.het && array == other.array &&
           attempt == other.attempt && restarts == other.restarts && priority == other.priority &&
           partition == other.partition && submitted == other.submitted &&
           eligible == other.eligible && last_evaluated == other.last_evaluated &&
           scheduler == other.scheduler && next_step == other.next_step && nonce == other.nonce &&
           admin_comment == other.admin_comment && system_comment == other.system_comment &&
           phase == other.phase;
}

JobState state_of(const Job& job) {
    if (std::holds_alternative<Completing>(job.phase)) return JobState::Completing;
    const auto* running = std::get_if<Running>(&job.phase);
    if (running != nullptr && running->configuring) return JobState::Configuring;
    return base_state_of(job);
}

JobState base_state_of(const Job& job) {
    return std::visit(Overloaded{
                          [](const Pending& p) {
                              return p.special_exit ? JobState::SpecialExit : JobState::Pending;
                          },
                          [](const Running&) { return JobState::Running; },
                          [](const Suspended&) { return JobState::Suspended; },
                          [](const Completing& c) {
                              return c.next == Completing::Next::End ? c.outcome.state
                                                                     : JobState::Pending;
                          },
                          [](const Ended& e) { return e.outcome.state; },
                      },
                      job.phase);
}

Reason reason_of(const Job& job) {
    if (const auto* pending = std::get_if<Pending>(&job.phase)) return pending->reason;
    if (const auto* running = std::get_if<Running>(&job.phase)) {
        return running->gpus_idle_since ? Reason::GpuIdle : Reason::None;
    }
    const Outcome* outcome = outcome_of(job);
    return outcome != nullptr ? outcome->reason : Reason::None;
}

bool is_finished(const Job& job) { return std::holds_alternative<Ended>(job.phase); }

const Running* run_of(const Job& job) {
    return std::visit(
        Overloaded{
            [](const Pending&) -> const Running* { return nullptr; },
            [](const Running& r) -> const Running* { return &r; },
            [](const Suspended& s) -> const Running* { return &s.run; },
            [](const Completing& c) -> const Running* { return &c.run; },
            [](const Ended& e) -> const Running* { return e.run ? &*e.run : nullptr; },
        },
        job.phase);
}

const Allocation* allocation_of(const Job& job) {
    const Running* run = run_of(job);
    return run != nullptr ? &run->allocation : nullptr;
}

std::optional<Instant> start_of(const Job& job) {
    const Running* run = run_of(job);
    return run != nullptr ? std::optional(run->started) : std::nullopt;
}

std::optional<Instant> end_of(const Job& job) {
    if (const auto* completing = std::get_if<Completing>(&job.phase)) return completing->ended;
    if (const auto* ended = std::get_if<Ended>(&job.phase)) return ended->ended;
    const Running* run = run_of(job);
    return run != nullptr ? run->ends_by : std::nullopt;
}

Seconds run_time(const Job& job, Instant now) {
    const Running* run = run_of(job);
    if (run == nullptr) return Seconds{0};
    Instant until = now;
    if (const auto* suspended = std::get_if<Suspended>(&job.phase)) until = suspended->since;
    if (const auto* completing = std::get_if<Completing>(&job.phase)) until = completing->ended;
    if (const auto* ended = std::get_if<Ended>(&job.phase)) until = ended->ended;
    // In whole seconds, so that it is the difference of the moments that are shown beside it.
    const Seconds ran = whole_seconds(until) - whole_seconds(run->started) - run->suspended_for;
    return std::max(ran, Seconds{0});
}

const Outcome* outcome_of(const Job& job) {
    if (const auto* completing = std::get_if<Completing>(&job.phase)) return &completing->outcome;
    if (const auto* ended = std::get_if<Ended>(&job.phase)) return &ended->outcome;
    return nullptr;
}

std::string display_id(const Job& job) {
    if (job.het) return fmt::format("{}+{}", job.het->leader.value, job.het->offset);
    if (!job.array) return fmt::to_string(job.id.value);
    const ArrayPlace& place = *job.array;
    if (place.element) return fmt::format("{}_{}", place.array_id.value, *place.element);
    return fmt::format("{}_[{}]", place.array_id.value, format_pending_elements(place));
}

}  // namespace switchyard::model
