#include "model/time_format.hpp"

#include <gtest/gtest.h>

#include <random>

namespace switchyard::model {
namespace {

TimeLimit limit(std::int64_t seconds) { return {Seconds{seconds}, false}; }

TEST(ParseTimeLimit, reads_the_six_forms) {
    EXPECT_EQ(*parse_time_limit("30"), limit(1800));
    EXPECT_EQ(*parse_time_limit("30:15"), limit(1815));
    EXPECT_EQ(*parse_time_limit("2:00:00"), limit(7200));
    EXPECT_EQ(*parse_time_limit("1-12"), limit(129'600));
    EXPECT_EQ(*parse_time_limit("1-12:30"), limit(131'400));
    EXPECT_EQ(*parse_time_limit("1-12:30:01"), limit(131'401));
    EXPECT_EQ(*parse_time_limit("0"), limit(0));
    EXPECT_EQ(*parse_time_limit("0:30"), limit(30));
    EXPECT_EQ(*parse_time_limit("90:00"), limit(5400));
    EXPECT_EQ(*parse_time_limit("100:00:00"), limit(360'000));
    EXPECT_EQ(*parse_time_limit("00:10:00"), limit(600));
    EXPECT_EQ(*parse_time_limit("0-0:1"), limit(60));
}

TEST(ParseTimeLimit, knows_the_words_for_no_limit) {
    for (const char* word : {"infinite", "INFINITE", "UNLIMITED", "unlimited", "-1"}) {
        EXPECT_EQ(*parse_time_limit(word), TimeLimit::infinite()) << word;
    }
}

TEST(ParseTimeLimit, refuses_everything_else) {
    for (const char* bad : {"",
                            "nonsense",
                            "-",
                            "-2",
                            "1-",
                            "-1:00",
                            "1:",
                            ":1",
                            "1:2:3:4",
                            "1-2:3:4:5",
                            "1-1-1",
                            "1.5",
                            "10m",
                            " 10",
                            "10 ",
                            "+1",
                            "99999999999999999999",
                            "18446744073709551615",
                            "9223372036854775807:0:0",
                            "1000001-0",
                            "0-99999999999999:0",
                            "1::2",
                            "0x10"}) {
        const auto parsed = parse_time_limit(bad);
        ASSERT_FALSE(parsed) << bad;
        EXPECT_EQ(parsed.error().code, Errc::InvalidTimeLimit);
    }
}

TEST(TimeLimit, no_limit_is_longer_than_any) {
    EXPECT_LT(limit(1), limit(2));
    EXPECT_FALSE(limit(2) < limit(2));
    EXPECT_LT(limit(1'000'000'000), TimeLimit::infinite());
    EXPECT_FALSE(TimeLimit::infinite() < limit(1));
    EXPECT_FALSE(TimeLimit::infinite() < TimeLimit::infinite());
}

TEST(FormatDuration, prints_as_scontrol_does) {
    EXPECT_EQ(format_duration(Seconds{0}), "00:00:00");
    EXPECT_EQ(format_duration(Seconds{66}), "00:01:06");
    EXPECT_EQ(format_duration(Seconds{86'399}), "23:59:59");
    EXPECT_EQ(format_duration(Seconds{86'400}), "1-00:00:00");
    EXPECT_EQ(format_duration(Seconds{100 * 86'400 + 3661}), "100-01:01:01");
    EXPECT_EQ(format_duration(Seconds{-1}), "INVALID");
    EXPECT_EQ(format_limit(limit(600)), "00:10:00");
    EXPECT_EQ(format_limit(TimeLimit::infinite()), "UNLIMITED");
}

TEST(FormatDuration, prints_as_squeue_does) {
    EXPECT_EQ(format_duration_short(Seconds{0}), "0:00");
    EXPECT_EQ(format_duration_short(Seconds{66}), "1:06");
    EXPECT_EQ(format_duration_short(Seconds{600}), "10:00");
    EXPECT_EQ(format_duration_short(Seconds{3600}), "1:00:00");
    EXPECT_EQ(format_duration_short(Seconds{2 * 86'400 + 3 * 3600}), "2-03:00:00");
    EXPECT_EQ(format_duration_short(Seconds{-5}), "INVALID");
    EXPECT_EQ(format_limit_short(limit(86'400)), "1-00:00:00");
    EXPECT_EQ(format_limit_short(TimeLimit::infinite()), "UNLIMITED");
}

// What we print for a limit is a limit that we read the same: the short form below an hour is
// minutes:seconds, which is one of the six forms.
TEST(TimeLimit, printing_and_reading_are_inverse_seeded) {
    std::mt19937_64 random(20'261'115);
    for (int n = 0; n < 20'000; ++n) {
        const auto bits = static_cast<int>(random() % 36);
        const auto seconds = static_cast<std::int64_t>(random() >> (63 - bits));
        ASSERT_EQ(*parse_time_limit(format_limit(limit(seconds))), limit(seconds)) << seconds;
        ASSERT_EQ(*parse_time_limit(format_limit_short(limit(seconds))), limit(seconds)) << seconds;
    }
}

}  // namespace
}  // namespace switchyard::model
