#include "model/output_pattern.hpp"

#include <gtest/gtest.h>

namespace switchyard::model {
namespace {

PatternFacts facts() {
    PatternFacts out;
    out.job = JobId{128};
    out.job_name = "train";
    out.user = "alice";
    out.node = "n1";
    return out;
}

TEST(ExpandPattern, fills_in_facts_of_a_batch_job) {
    EXPECT_EQ(expand_pattern("slurm-%j.out", facts()), "slurm-128.out");
    EXPECT_EQ(expand_pattern("pat-%x-%j-%N-%u.out", facts()), "pat-train-128-n1-alice.out");
    EXPECT_EQ(expand_pattern("job%4j.out", facts()), "job0128.out");
    EXPECT_EQ(expand_pattern("%A_%a", facts()), "128_4294967294");
    EXPECT_EQ(expand_pattern("100%%", facts()), "100%");
    EXPECT_EQ(expand_pattern("%J", facts()), "128");
    EXPECT_EQ(expand_pattern("%s", facts()), "batch");
    EXPECT_EQ(expand_pattern("%n-%t", facts()), "0-0");
    EXPECT_EQ(expand_pattern("", facts()), "");
    EXPECT_EQ(expand_pattern("plain", facts()), "plain");
}

TEST(ExpandPattern, fills_in_facts_of_a_step_and_of_an_array) {
    PatternFacts step = facts();
    step.step = StepId{0};
    step.task = 3;
    step.node_index = 1;
    EXPECT_EQ(expand_pattern("job%J.out", step), "job128.0.out");
    EXPECT_EQ(expand_pattern("job%j-%2t.out", step), "job128-03.out");
    EXPECT_EQ(expand_pattern("%s.%n", step), "0.1");
    step.step = kBatchStep;
    EXPECT_EQ(expand_pattern("%J %s", step), "128 batch");

    PatternFacts element = facts();
    element.array_job = JobId{126};
    element.element = 17;
    EXPECT_EQ(expand_pattern("slurm-%A_%a.out", element), "slurm-126_17.out");
    EXPECT_EQ(expand_pattern("%5a %b %j", element), "00017 7 128");
}

TEST(ExpandPattern, a_width_pads_numbers_only_and_has_an_end) {
    EXPECT_EQ(expand_pattern("%8u", facts()), "alice");
    EXPECT_EQ(expand_pattern("%99999999999999999999j", facts()), "0000000128");
}

TEST(ExpandPattern, leaves_what_means_nothing) {
    EXPECT_EQ(expand_pattern("%q %", facts()), "%q %");
    EXPECT_EQ(expand_pattern("%5", facts()), "%5");
    EXPECT_EQ(expand_pattern("%5q%j", facts()), "%5q128");
}

TEST(ExpandPattern, a_backslash_turns_it_off) {
    EXPECT_EQ(expand_pattern("\\%j-%x", facts()), "%j-%x");
    EXPECT_EQ(expand_pattern("a\\b%j", facts()), "ab%j");
}

TEST(Pattern, knows_whether_each_task_or_node_has_its_own_file) {
    EXPECT_TRUE(is_per_task("out-%t"));
    EXPECT_TRUE(is_per_task("out-%04t"));
    EXPECT_FALSE(is_per_task("out-%%t"));
    EXPECT_FALSE(is_per_task("out-\\%t"));
    EXPECT_FALSE(is_per_task("out-%j"));
    EXPECT_FALSE(is_per_task("out-%"));
    EXPECT_TRUE(is_per_node("out-%N"));
    EXPECT_TRUE(is_per_node("%j-%3n"));
    EXPECT_FALSE(is_per_node("%t"));
}

}  // namespace
}  // namespace switchyard::model
