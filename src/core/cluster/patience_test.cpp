#include "core/cluster/patience.hpp"

#include <gtest/gtest.h>

namespace switchyard::core {
namespace {

constexpr TimerKey kTimer{TimerKey::Kind::Job, 12};

std::optional<Seconds> keep_coming(TimerPatience& patience) {
    patience.begin_tick();
    for (std::uint32_t turn = 1; turn < kTurnsPerTimerMax; ++turn) {
        if (patience.looked_at(kTimer, true)) return Seconds{-1};
    }
    return patience.looked_at(kTimer, true);
}

TEST(Patience, ATimerThatIsDueAgainAndAgainIsLeftAloneLongerEachTime) {
    TimerPatience patience;
    EXPECT_EQ(keep_coming(patience), kStallRest);
    EXPECT_EQ(keep_coming(patience), kStallRest * 2);
    EXPECT_EQ(keep_coming(patience), kStallRest * 4);
    for (int i = 0; i < 20; ++i) keep_coming(patience);
    EXPECT_EQ(keep_coming(patience), kStallRestMax);
}

TEST(Patience, ATimerThatDidItsWorkIsForgiven) {
    TimerPatience patience;
    EXPECT_EQ(keep_coming(patience), kStallRest);
    patience.begin_tick();
    EXPECT_FALSE(patience.looked_at(kTimer, false));
    EXPECT_EQ(keep_coming(patience), kStallRest);
}

TEST(Patience, OtherTimersDoNotCount) {
    TimerPatience patience;
    for (std::uint32_t id = 0; id < 1000; ++id)
        EXPECT_FALSE(patience.looked_at({TimerKey::Kind::Job, id}, true));
}

TEST(Patience, PassesThatChangeNothingComeToRest) {
    PassPatience patience;
    for (std::uint32_t pass = 1; pass < kIdlePassesMax; ++pass) ASSERT_FALSE(patience.passed(true));
    EXPECT_EQ(patience.passed(true), kStallRest);
    EXPECT_FALSE(patience.passed(false));
    for (std::uint32_t pass = 1; pass < kIdlePassesMax; ++pass) ASSERT_FALSE(patience.passed(true));
    EXPECT_EQ(patience.passed(true), kStallRest);
}

}  // namespace
}  // namespace switchyard::core
