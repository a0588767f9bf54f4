#include "model/step.hpp"

#include <fmt/format.h>

namespace switchyard::model {

std::uint32_t StepLayout::task_count() const {
    std::size_t tasks = 0;
    for (const StepNode& node : nodes) tasks += node.tasks.size();
    return static_cast<std::uint32_t>(tasks);
}

std::optional<Instant> start_of(const Step& step) {
    if (step.started == Instant{}) return std::nullopt;
    return step.started;
}

bool is_pending(const Step& step) { return !step.end && !start_of(step); }

JobState state_of(const Step& step) {
    if (step.end) return step.end->state;
    return is_pending(step) ? JobState::Pending : JobState::Running;
}

std::string step_name(StepId step) {
    if (step == kBatchStep) return "batch";
    if (step == kExternStep) return "extern";
    if (step == kInteractiveStep) return "interactive";
    return fmt::to_string(step.value);
}

std::string to_string(const StepKey& key) {
    return fmt::format("{}.{}", key.job.value, step_name(key.step));
}

}  // namespace switchyard::model
