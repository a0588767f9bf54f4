// Goal: what happens on a card is put down to the step that did it.
#include "agent/gpu_usage.hpp"

#include <gtest/gtest.h>

namespace switchyard::agent {
namespace {

StepKey key(std::uint32_t job, StepId step) { return {JobId{job}, Attempt{0}, step}; }

GpuSight sight(std::uint32_t percent, std::vector<gpu::CardProcess> processes) {
    GpuSight seen;
    seen.samples[0].utilization_percent = percent;
    seen.samples[0].memory_used_bytes = 1000;
    seen.samples[0].processes = std::move(processes);
    return seen;
}

std::string text(const GpuUsage& usage, const StepKey& step) {
    const model::StepUsage used = usage.usage_of(step);
    std::string out;
    for (const auto& each : used.measures) {
        out += each.name.substr(5) + " " + std::to_string(each.average()) + " max " +
               std::to_string(each.max.value) + "@" + each.max.node + ";";
    }
    return out;
}

TEST(GpuUsage, processes_belong_to_their_steps) {
    GpuUsage usage("n1");
    const std::vector<StepCards> steps{{key(1, StepId{0}), {0}, true, {100}, 0},
                                       {key(2, StepId{0}), {0}, true, {200, 201}, 0}};
    usage.add(sight(90, {{100, 10, 30}, {200, 20, 40}, {201, 5, 10}}), steps);
    usage.add(sight(20, {{100, 12, 10}, {200, 20, 0}}), steps);
    EXPECT_EQ(text(usage, steps[0].key), "gpumem 12 max 12@n1;gpuutil 20 max 30@n1;");
    EXPECT_EQ(text(usage, steps[1].key), "gpumem 25 max 25@n1;gpuutil 25 max 50@n1;");
}

TEST(GpuUsage, a_card_with_one_holder_is_its_holders) {
    GpuUsage usage("n1");
    const std::vector<StepCards> steps{{key(1, kBatchStep), {0}, false, {50}, 0},
                                       {key(1, StepId{0}), {0}, false, {60}, 0}};
    // Counted in another namespace.
    usage.add(sight(80, {{7000, 900, 80}}), steps);
    EXPECT_EQ(text(usage, steps[1].key), "gpumem 1000 max 1000@n1;gpuutil 80 max 80@n1;");
    EXPECT_EQ(text(usage, steps[0].key), "gpumem 0 max 0@n1;gpuutil 0 max 0@n1;");
    // Nobody's memory of an idle card is nobody's.
    GpuUsage idle("n1");
    idle.add(sight(0, {}), steps);
    EXPECT_EQ(text(idle, steps[1].key), "gpumem 0 max 0@n1;gpuutil 0 max 0@n1;");
    EXPECT_EQ(text(idle, key(9, StepId{0})), "");
}

}  // namespace
}  // namespace switchyard::agent
