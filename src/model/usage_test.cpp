#include "model/usage.hpp"

#include <gtest/gtest.h>

namespace switchyard::model {
namespace {

TEST(Usage, KnowsTheTaskThatUsedMostAndTheOneThatUsedLeast) {
    StepUsage usage;
    add(usage, "mem", false, {300, "n1", 0});
    add(usage, "mem", false, {100, "n1", 1});
    add(usage, "mem", false, {200, "n1", 2});
    const UsageMeasure* memory = find_measure(usage, "mem");
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(memory->total, 600u);
    EXPECT_EQ(memory->average(), 200u);
    EXPECT_EQ(memory->max, (UsageMark{300, "n1", 0}));
    EXPECT_EQ(memory->min, (UsageMark{100, "n1", 1}));
}

TEST(Usage, WhatSeveralNodesSayIsOneStep) {
    StepUsage one, two;
    one.user_us = 5;
    two.user_us = 7;
    add(one, "cpu", false, {10, "n1", 0});
    add(two, "cpu", false, {30, "n2", 1});
    add(two, "gres/gpuutil", false, {90, "n2", 1});
    merge(one, two);
    EXPECT_EQ(one.user_us, 12u);
    EXPECT_EQ(find_measure(one, "cpu")->total, 40u);
    EXPECT_EQ(find_measure(one, "cpu")->max.node, "n2");
    EXPECT_EQ(find_measure(one, "cpu")->min.node, "n1");
    EXPECT_EQ(find_measure(one, "gres/gpuutil")->tasks, 1u);
}

TEST(Usage, ReadingAndWritingAreTwoMeasures) {
    StepUsage usage;
    add(usage, "fs/disk", true, {7, "n1", 0});
    add(usage, "fs/disk", false, {3, "n1", 0});
    EXPECT_EQ(find_measure(usage, "fs/disk", true)->total, 7u);
    EXPECT_EQ(find_measure(usage, "fs/disk", false)->total, 3u);
    EXPECT_EQ(find_measure(usage, "energy"), nullptr);
}

}  // namespace
}  // namespace switchyard::model
