#include "base/result.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "base/ids.hpp"
#include "base/time.hpp"

namespace switchyard {
namespace {

Result<int> half(int n) {
    if (n % 2 != 0) return fail(Errc::InvalidArgument, "odd");
    return n / 2;
}

Result<int> quarter(int n) {
    SY_TRY(const int once, half(n));
    SY_TRY(const int twice, half(once));
    return twice;
}

Status check_even(int n) {
    SY_CHECK(half(n));
    return {};
}

TEST(Result, carries_a_value_or_an_error_through_try) {
    EXPECT_EQ(*quarter(8), 2);
    const auto odd = quarter(6);
    ASSERT_FALSE(odd);
    EXPECT_EQ(odd.error(), (Error{Errc::InvalidArgument, "odd"}));
    EXPECT_TRUE(check_even(2));
    EXPECT_EQ(check_even(3).error().message, "odd");
}

TEST(Result, holds_what_can_only_be_moved) {
    Result<std::unique_ptr<int>> boxed = std::make_unique<int>(7);
    const std::unique_ptr<int> out = *std::move(boxed);
    EXPECT_EQ(*out, 7);
}

TEST(Failure, without_words_of_its_own_says_what_slurm_says) {
    const Status status = fail(Errc::InvalidJobId);
    EXPECT_EQ(status.error().message, "Invalid job id specified");
}

TEST(ResultDeathTest, a_value_that_is_not_there_is_a_bug) {
    const Result<int> odd = half(1);
    EXPECT_DEATH((void)*odd, "assertion failed");
    const Result<int> even = half(2);
    EXPECT_DEATH((void)even.error(), "assertion failed");
}

// The words that programs look for in stderr.
TEST(Errc, texts_are_slurms) {
    EXPECT_EQ(errc_text(Errc::InvalidPartition), "Invalid partition name specified");
    EXPECT_EQ(errc_text(Errc::InvalidNodeName), "Invalid node name specified");
    EXPECT_EQ(errc_text(Errc::InvalidFeature), "Invalid feature specification");
    EXPECT_EQ(errc_text(Errc::InvalidGres), "Invalid generic resource (gres) specification");
    EXPECT_EQ(errc_text(Errc::InvalidArray), "Invalid job array specification");
    EXPECT_EQ(errc_text(Errc::DependencyProblem), "Job dependency problem");
    EXPECT_EQ(errc_text(Errc::NodeConfigUnavailable),
              "Requested node configuration is not available");
    EXPECT_EQ(errc_text(Errc::AccountingDisabled), "Slurm accounting storage is disabled");
    EXPECT_EQ(errc_text(Errc::AccessDenied), "Access/permission denied");
}

TEST(Errc, no_code_is_without_words_and_no_two_share_them) {
    std::vector<std::string_view> seen;
    for (unsigned number = 1; number <= 60; ++number) {
        const std::string_view text = errc_text(static_cast<Errc>(number));
        EXPECT_FALSE(text.empty());
        if (text == errc_text(Errc::Internal)) continue;  // A number that is not in use.
        EXPECT_EQ(std::find(seen.begin(), seen.end(), text), seen.end()) << text;
        seen.push_back(text);
    }
    EXPECT_GE(seen.size(), 45u);
}

TEST(Time, floors_to_whole_seconds_on_both_sides_of_the_epoch) {
    EXPECT_EQ(unix_seconds(Instant{Millis{1999}}), 1);
    EXPECT_EQ(unix_seconds(Instant{Millis{-1}}), -1);
    EXPECT_EQ(from_unix_seconds(3), Instant{Millis{3000}});
}

TEST(Ids, compare_by_value_and_the_special_steps_are_slurms_negative_numbers) {
    EXPECT_LT(JobId{1}, JobId{2});
    EXPECT_EQ(static_cast<std::int32_t>(kBatchStep.value), -5);
    EXPECT_EQ(static_cast<std::int32_t>(kExternStep.value), -4);
    EXPECT_EQ(static_cast<std::int32_t>(kInteractiveStep.value), -6);
    EXPECT_LT((StepKey{JobId{1}, Attempt{1}, StepId{9}}),
              (StepKey{JobId{2}, Attempt{0}, StepId{0}}));
}

}  // namespace
}  // namespace switchyard
