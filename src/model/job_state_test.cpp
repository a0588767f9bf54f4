#include "model/job_state.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace switchyard::model {
namespace {

constexpr int kStates = static_cast<int>(JobState::ResvDelHold) + 1;

TEST(JobState, every_name_long_or_short_in_any_case_is_read_back) {
    for (int n = 0; n < kStates; ++n) {
        const auto state = static_cast<JobState>(n);
        EXPECT_EQ(*parse_job_state(long_name(state)), state);
        EXPECT_EQ(*parse_job_state(short_name(state)), state);
        EXPECT_EQ(*parse_job_state(to_lower(long_name(state))), state);
        EXPECT_EQ(*parse_job_state(to_lower(short_name(state))), state);
    }
}

TEST(JobState, short_codes_are_those_that_clients_know) {
    std::string codes;
    for (int n = 0; n < kStates; ++n) {
        codes += short_name(static_cast<JobState>(n));
        codes += ' ';
    }
    EXPECT_EQ(codes, "PD R S CD CA F TO NF PR BF DL OOM CG CF RQ RH SE RV RS SI SO ST RF RD ");
    EXPECT_EQ(long_name(JobState::NodeFail), "NODE_FAIL");
    EXPECT_EQ(long_name(JobState::OutOfMemory), "OUT_OF_MEMORY");
}

TEST(StateFilter, reads_lists_and_all) {
    const auto filter = parse_state_filter("PD,running,pd");
    ASSERT_TRUE(filter);
    EXPECT_FALSE(filter->all);
    EXPECT_EQ(filter->states, (std::vector{JobState::Pending, JobState::Running}));
    EXPECT_TRUE(parse_state_filter("ALL")->all);
    EXPECT_TRUE(parse_state_filter("R,all")->states.empty());
    EXPECT_EQ(parse_state_filter("R,xyz").error().message, "Invalid job state specified: xyz");
    EXPECT_FALSE(parse_state_filter("R,"));
}

TEST(JobState, the_states_a_job_can_end_in_are_finished) {
    for (int n = 0; n < kStates; ++n) {
        const auto state = static_cast<JobState>(n);
        const bool expected = n >= 3 && n <= 11;
        EXPECT_EQ(is_finished(state), expected) << long_name(state);
    }
}

TEST(Reason, has_slurms_words) {
    EXPECT_EQ(reason_text(Reason::None), "None");
    EXPECT_EQ(reason_text(Reason::JobHeldUser), "JobHeldUser");
    EXPECT_EQ(reason_text(Reason::NodeDown),
              "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority "
              "partitions");
    EXPECT_EQ(reason_text(Reason::QosMaxJobsPerUserLimit), "QOSMaxJobsPerUserLimit");
    EXPECT_EQ(reason_text(Reason::WaitingForRequeue), "BeginTime");
    for (int n = 1; n <= static_cast<int>(Reason::WaitingForRequeue); ++n) {
        EXPECT_NE(reason_text(static_cast<Reason>(n)), "None") << n;
    }
}

}  // namespace
}  // namespace switchyard::model
