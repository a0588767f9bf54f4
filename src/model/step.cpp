#include "model/step.hpp"

#include <fmt/format.h>

namespace switchyard::model {

std::uint32_t StepLayout::task_count() const {
    std::size_t tasks = 0;
    for (const StepNode& node : nodes) tasks += node.tasks.size();
    return static_cast<std::uint32_t>(tasks);
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
