#include "model/cron.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "model/time_format.hpp"

namespace switchyard::model {
namespace {

// Times of the tests are those of one place, whatever the host's are.
class Cron : public testing::Test {
  protected:
    void SetUp() override {
        if (const char* zone = std::getenv("TZ")) before_ = zone;
        ::setenv("TZ", "UTC", 1);
        ::tzset();
    }
    void TearDown() override {
        before_.empty() ? ::unsetenv("TZ") : ::setenv("TZ", before_.c_str(), 1);
        ::tzset();
    }
    static std::string next(std::string_view cron, std::string_view now) {
        const auto time = parse_cron(cron);
        if (!time) return time.error().message;
        const auto found = next_after(*time, *parse_instant(now, Instant{}));
        return found ? format_instant(*found) : "never";
    }

  private:
    std::string before_;
};

TEST_F(Cron, TheNextTimeIsTheFirstThatFits) {
    EXPECT_EQ(next("*/15 * * * *", "2026-11-15T10:07:30"), "2026-11-15T10:15:00");
    EXPECT_EQ(next("0 4 * * *", "2026-11-15T04:00:00"), "2026-11-16T04:00:00");
    EXPECT_EQ(next("30 6 1 * *", "2026-11-15T00:00:00"), "2026-12-01T06:30:00");
    EXPECT_EQ(next("5,10 8-9 * jan mon-fri", "2026-11-15T00:00:00"), "2027-01-01T08:05:00");
    EXPECT_EQ(next("0 0 29 2 *", "2026-11-15T00:00:00"), "2028-02-29T00:00:00");
    EXPECT_EQ(next("0 12 * * 7", "2026-11-16T00:00:00"), "2026-11-22T12:00:00");
}

TEST_F(Cron, DayAndWeekdayTogetherMeanEither) {
    EXPECT_EQ(next("0 0 20 * mon", "2026-11-17T00:00:00"), "2026-11-20T00:00:00");
    EXPECT_EQ(next("0 0 28 * mon", "2026-11-17T00:00:00"), "2026-11-23T00:00:00");
}

TEST_F(Cron, NamesForCommonTimes) {
    EXPECT_EQ(next("@hourly", "2026-11-15T10:07:00"), "2026-11-15T11:00:00");
    EXPECT_EQ(next("@weekly", "2026-11-16T00:00:00"), "2026-11-22T00:00:00");
    EXPECT_EQ(cron_word_count("@daily echo"), 1u);
    EXPECT_EQ(cron_word_count("0 0 * * * echo"), 5u);
}

TEST_F(Cron, WhatCannotBeIsRefusedOrNeverComes) {
    EXPECT_EQ(next("61 * * * *", "2026-11-15T00:00:00"), "bad minute: \"61\"");
    EXPECT_EQ(next("* * * * nosuch", "2026-11-15T00:00:00"), "bad day of week: \"nosuch\"");
    EXPECT_EQ(next("*/0 * * * *", "2026-11-15T00:00:00"), "bad minute: \"*/0\"");
    EXPECT_EQ(next("* * *", "2026-11-15T00:00:00"),
              "a time is minute, hour, day, month and weekday");
    EXPECT_EQ(next("@sometimes", "2026-11-15T00:00:00"), "unknown time \"@sometimes\"");
    EXPECT_EQ(next("0 0 31 2 *", "2026-11-15T00:00:00"), "never");
}

}  // namespace
}  // namespace switchyard::model
