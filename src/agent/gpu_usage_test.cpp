// Goal: what happens on a card is put down to the step that did it.
#include "agent/gpu_usage.hpp"

#include <gtest/gtest.h>

namespace switchyard::agent {
namespace {

using namespace std::chrono_literals;

StepKey key(std::uint32_t job, StepId step) { return {JobId{job}, Attempt{0}, step}; }

GpuSight sight(std::uint32_t percent, std::vector<gpu::CardProcess> processes, Millis at = {}) {
    GpuSight seen;
    seen.at = at;
    seen.samples[0].utilization_percent = percent;
    seen.samples[0].memory_used_bytes = 1000;
    seen.samples[0].processes = std::move(processes);
    return seen;
}

std::string text(const GpuUsage& usage, const StepKey& step) {
    const model::StepUsage used = usage.usage_of(step);
    std::string out;
    for (const auto& each : used.measures) {
        if (!each.name.starts_with("gres/gpu") || each.name == "gres/gpupower") continue;
        out += each.name.substr(5) + " " + std::to_string(each.average()) + " max " +
               std::to_string(each.max.value) + "@" + each.max.node + ";";
    }
    return out;
}

TEST(GpuUsage, processes_belong_to_their_steps) {
    GpuUsage usage("n1");
    const std::vector<StepCards> steps{{key(1, StepId{0}), {0}, true, {100}, 0},
                                       {key(2, StepId{0}), {0}, true, {200, 201}, 0}};
    usage.add(sight(90, {{100, 10, 30}, {200, 20, 40}, {201, 5, 10}}, 0s), steps);
    EXPECT_EQ(text(usage, steps[0].key), "gpumem 10 max 10@n1;gpuutil 30 max 30@n1;");
    // A look stands for the time before it.
    usage.add(sight(90, {{100, 10, 30}, {200, 20, 40}, {201, 5, 10}}, 10s), steps);
    usage.add(sight(20, {{100, 12, 10}, {200, 20, 0}}, 20s), steps);
    EXPECT_EQ(text(usage, steps[0].key), "gpumem 12 max 12@n1;gpuutil 20 max 30@n1;");
    EXPECT_EQ(text(usage, steps[1].key), "gpumem 25 max 25@n1;gpuutil 25 max 50@n1;");
    // One besides, at the end of the first: its process is gone, and did as before until then.
    GpuSight last = sight(20, {{200, 20, 40}}, 30s);
    last.extra = true;
    usage.add(last, steps);
    EXPECT_EQ(text(usage, steps[0].key), "gpumem 12 max 12@n1;gpuutil 17 max 30@n1;");
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

// --- energy: no joule is put down twice, and none is lost with an agent.

struct Draw {
    std::uint32_t milliwatts = 0;
    std::optional<std::uint64_t> millijoules;
};
GpuSight powered(Millis at, Draw draw, std::vector<gpu::CardProcess> processes = {}) {
    GpuSight seen = sight(0, std::move(processes));
    seen.at = at;
    seen.samples[0].power_milliwatts = draw.milliwatts;
    seen.samples[0].energy_millijoules = draw.millijoules;
    return seen;
}

std::string power(const GpuUsage& usage, const StepKey& step) {
    const model::StepUsage used = usage.usage_of(step);
    const auto* energy = model::find_measure(used, "energy");
    const auto* watts = model::find_measure(used, "gres/gpupower");
    if (energy == nullptr || watts == nullptr) return "untold";
    return std::to_string(energy->total) + " J, " + std::to_string(watts->average()) + " W, most " +
           std::to_string(watts->max.value);
}

TEST(GpuEnergy, a_counter_is_believed_before_the_power) {
    GpuUsage usage("n1");
    const std::vector<StepCards> steps{{key(1, kBatchStep), {0}, false, {}, 0}};
    usage.add(powered(0s, {70'000, 5'000'000}), {});
    usage.add(powered(1s, {70'000, 9'000'000}), steps);
    EXPECT_EQ(power(usage, steps[0].key), "0 J, 70 W, most 70");
    usage.add(powered(11s, {700'000, 12'000'000}), steps);
    EXPECT_EQ(power(usage, steps[0].key), "3000 J, 300 W, most 700");
    // The driver was loaded again: its counter begins anew, and the power must do.
    usage.add(powered(21s, {100'000, 1'000}), steps);
    EXPECT_EQ(power(usage, steps[0].key), "7000 J, 350 W, most 700");
    usage.add(powered(31s, {100'000, 2'000'000}), steps);
    EXPECT_EQ(power(usage, steps[0].key), "8999 J, 300 W, most 700");
}

TEST(GpuEnergy, a_card_without_a_counter_is_reckoned_by_its_power) {
    GpuUsage usage("n1");
    const std::vector<StepCards> steps{{key(1, kBatchStep), {0}, false, {}, 0}};
    usage.add(powered(0s, {100'000, {}}), steps);
    usage.add(powered(10s, {300'000, {}}), steps);
    EXPECT_EQ(power(usage, steps[0].key), "2000 J, 200 W, most 300");
    GpuUsage silent("n1");
    GpuSight dumb = sight(50, {});
    silent.add(dumb, steps);
    EXPECT_EQ(power(silent, steps[0].key), "untold");
}

TEST(GpuEnergy, steps_of_one_job_divide_what_its_card_drew) {
    GpuUsage usage("n1");
    const StepCards batch{key(1, kBatchStep), {0}, false, {10}, 0};
    const StepCards first{key(1, StepId{0}), {0}, false, {20}, 0};
    const StepCards second{key(1, StepId{1}), {0}, false, {30}, 0};
    // Nobody is seen on the card: it is the script's, then that of the last srun.
    usage.add(powered(0s, {0, 0}), {batch});
    usage.add(powered(10s, {0, 1'000'000}), {batch});
    usage.add(powered(10s, {0, 1'000'000}), {batch, first});
    usage.add(powered(20s, {0, 1'500'000}), {batch, first});
    EXPECT_EQ(power(usage, batch.key), "1000 J, 50 W, most 0");
    EXPECT_EQ(power(usage, first.key), "500 J, 50 W, most 0");
    // Two at once: by what their processes use.
    usage.add(powered(20s, {0, 1'500'000}), {batch, first, second});
    usage.add(powered(30s, {0, 1'900'000}, {{20, 1, 75}, {30, 1, 25}}), {batch, first, second});
    EXPECT_EQ(power(usage, first.key), "800 J, 40 W, most 0");
    EXPECT_EQ(power(usage, second.key), "100 J, 10 W, most 0");
    // By their last look the processes are gone: they did as they did before.
    usage.add(powered(40s, {0, 2'300'000}), {batch, first, second});
    EXPECT_EQ(power(usage, first.key), "1100 J, 37 W, most 0");
    EXPECT_EQ(power(usage, second.key), "200 J, 10 W, most 0");
    EXPECT_EQ(power(usage, batch.key), "1000 J, 25 W, most 0");
}

TEST(GpuEnergy, jobs_on_a_shared_card_pay_for_what_they_use_or_else_for_their_share) {
    GpuUsage usage("n1");
    StepCards quarter{key(1, kBatchStep), {0}, true, {10}, 0, {{0, 0.25}}};
    StepCards half{key(2, kBatchStep), {0}, true, {20}, 0, {{0, 0.5}}};
    usage.add(powered(0s, {100'000, 0}), {quarter, half});
    usage.add(powered(10s, {100'000, 1'000'000}), {quarter, half});
    // A quarter of the card is nobody's.
    EXPECT_EQ(power(usage, quarter.key), "250 J, 25 W, most 25");
    EXPECT_EQ(power(usage, half.key), "500 J, 50 W, most 50");
    usage.add(powered(20s, {400'000, 4'000'000}, {{10, 1, 60}, {20, 1, 20}}), {quarter, half});
    EXPECT_EQ(power(usage, quarter.key), "2500 J, 125 W, most 300");
    EXPECT_EQ(power(usage, half.key), "1250 J, 63 W, most 100");
}

TEST(GpuEnergy, the_next_agent_goes_on_where_the_last_one_stopped) {
    const std::vector<StepCards> steps{{key(7, kBatchStep), {0}, false, {}, 3}};
    GpuUsage before("n1");
    before.add(powered(0s, {100'000, 1'000'000}), steps);
    GpuSight busy = powered(10s, {200'000, 2'000'000});
    busy.samples[0].utilization_percent = 60;
    before.add(busy, steps);
    GpuUsage after("n1");
    after.load("garbage\nused 1 2\ncard x\n" + before.save());
    EXPECT_EQ(after.usage_of(steps[0].key), before.usage_of(steps[0].key));
    // What was drawn while there was no agent is not lost.
    after.add(powered(40s, {100'000, 5'000'000}), steps);
    EXPECT_EQ(power(after, steps[0].key), "4000 J, 100 W, most 200");
    EXPECT_EQ(text(after, steps[0].key), "gpumem 1000 max 1000@n1;gpuutil 15 max 60@n1;");
    after.keep_only({});
    EXPECT_TRUE(after.empty());
    EXPECT_EQ(power(after, steps[0].key), "untold");
}

}  // namespace
}  // namespace switchyard::agent
