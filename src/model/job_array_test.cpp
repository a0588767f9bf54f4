#include "model/job_array.hpp"

#include <gtest/gtest.h>

namespace switchyard::model {
namespace {

IndexSet of(std::string_view text) { return *parse_index_set(text); }

TEST(ParseArray, reads_elements_step_and_throttle) {
    EXPECT_EQ(*parse_array("0-15"), (ArraySpec{of("0-15"), 0, 1}));
    EXPECT_EQ(*parse_array("0,6,16-32"), (ArraySpec{of("0,6,16-32"), 0, 1}));
    EXPECT_EQ(*parse_array("0-15:4"), (ArraySpec{of("0,4,8,12"), 0, 4}));
    EXPECT_EQ(*parse_array("0-15%4"), (ArraySpec{of("0-15"), 4, 1}));
    EXPECT_EQ(*parse_array("0-15:4%2,20"), (ArraySpec{of("0,4,8,12,20"), 2, 1}));
    EXPECT_EQ(*parse_array("1-9:2%3"), (ArraySpec{of("1,3,5,7,9"), 3, 2}));
    EXPECT_EQ(*parse_array("7"), (ArraySpec{of("7"), 0, 1}));
    EXPECT_EQ(*parse_array("1-3%0"), (ArraySpec{of("1-3"), 0, 1}));
    EXPECT_EQ(*parse_array("0-4000000"), (ArraySpec{of("0-4000000"), 0, 1}));
}

TEST(ParseArray, refuses_everything_else) {
    for (const char* bad : {"",
                            "5-1",
                            "-1",
                            "1-",
                            "a",
                            "1,",
                            ",1",
                            "1-5:0",
                            "1:2",
                            "%2",
                            "1-3%",
                            "1-3%x",
                            "1-3%-1",
                            "1-3%2%3",
                            "4000001",
                            "0-4000001",
                            "0-99999999999",
                            "99999999999999999999",
                            "1-3%99999999999",
                            "1 - 3",
                            "[1-3"}) {
        const auto parsed = parse_array(bad);
        ASSERT_FALSE(parsed) << bad;
        EXPECT_EQ(parsed.error().message, "Invalid job array specification");
    }
}

TEST(PendingElements, print_as_squeue_does) {
    ArrayPlace place{.array_id = JobId{126}, .element = {}, .pending = of("3-8"), .throttle = 2};
    EXPECT_EQ(format_pending_elements(place), "3-8%2");
    place.throttle = 0;
    place.pending = of("2,4-12");
    EXPECT_EQ(format_pending_elements(place), "2,4-12");
}

TEST(PendingElements, are_cut_to_the_length_asked_for) {
    ArrayPlace place{.array_id = JobId{1}, .element = {}, .pending = of("0-100:2"), .throttle = 5};
    EXPECT_EQ(format_pending_elements(place, 10), "0,2,4,6...%5");
    place.pending = of("0-9");
    EXPECT_EQ(format_pending_elements(place, 3), "0-9%5");
    EXPECT_EQ(format_pending_elements(place, 2), "...%5");
}

TEST(JobSelector, reads_jobs_elements_and_steps) {
    const auto read = [](std::string_view text) { return *parse_job_selector(text); };
    EXPECT_EQ(read("12").job, JobId{12});
    EXPECT_FALSE(read("12").elements);
    EXPECT_EQ(read("12_3").elements, of("3"));
    EXPECT_EQ(read("12_[1-3,7]").elements, of("1-3,7"));
    EXPECT_EQ(read("126_[3-8%2]").elements, of("3-8"));
    EXPECT_TRUE(read("12_*").all_elements);
    EXPECT_EQ(read("12_*").elements, IndexSet{});
    EXPECT_EQ(read("12.0").step, StepId{0});
    EXPECT_EQ(read("12.batch").step, kBatchStep);
    EXPECT_EQ(read("12.extern").step, kExternStep);
    EXPECT_EQ(read("12.interactive").step, kInteractiveStep);
    EXPECT_EQ(read("12_3.1").elements, of("3"));
    EXPECT_EQ(read("12_3.1").step, StepId{1});
    EXPECT_EQ(read("12+1").job, JobId{13});
    EXPECT_EQ(read("4294967295").job, JobId{UINT32_MAX});
}

TEST(JobSelector, refuses_everything_else) {
    for (const char* bad : {"",
                            "0",
                            "-1",
                            "abc",
                            "12x",
                            "12_",
                            "12_x",
                            "12_[",
                            "12_[]",
                            "12_[3",
                            "12_3]",
                            "12_[3-1]",
                            "12_-1",
                            "12.",
                            "12.x",
                            "12.4294967295",
                            "12.-1",
                            "12+",
                            "12+x",
                            "12_1+1",
                            "_3",
                            ".0",
                            "+1",
                            "4294967296",
                            "99999999999999999999",
                            "12_4000001",
                            "4294967295+1",
                            "12 ",
                            "12_1_2"}) {
        const auto parsed = parse_job_selector(bad);
        ASSERT_FALSE(parsed) << bad;
        EXPECT_EQ(parsed.error().message, "Invalid job id specified");
    }
}

}  // namespace
}  // namespace switchyard::model
