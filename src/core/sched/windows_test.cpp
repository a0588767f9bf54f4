#include "core/sched/windows.hpp"

#include <gtest/gtest.h>

namespace switchyard::core::sched {
namespace {

Instant at(std::int64_t seconds) { return from_unix_seconds(seconds); }

Windows one_window(Window window, WindowRights rights = {}) {
    Windows windows(2, 1);
    windows.set_rights(window.owner, rights);
    windows.add(0, {{0, 0}}, window);
    return windows;
}
const Window kWindow{.owner = 7, .from = at(100), .until = at(200)};

TEST(Windows, OthersKeepOutOfAWindow) {
    const Windows windows = one_window(kWindow);
    EXPECT_TRUE(windows.admit(0, kNobody, at(0), at(100)));
    EXPECT_FALSE(windows.admit(0, kNobody, at(0), at(101)));
    EXPECT_FALSE(windows.admit(0, kNobody, at(150), at(160)));
    EXPECT_TRUE(windows.admit(0, kNobody, at(200), at(999)));
    EXPECT_TRUE(windows.admit(1, kNobody, at(0), at(999)));
    EXPECT_FALSE(windows.admit(0, 8, at(150), at(160)));
}

TEST(Windows, TheOwnerBeginsInsideAndIsGoneWhenItEnds) {
    const Windows windows = one_window(kWindow);
    EXPECT_FALSE(windows.admit(0, 7, at(99), at(120)));
    EXPECT_EQ(windows.admit(0, 7, at(100), at(150))->until, at(150));
    EXPECT_EQ(windows.admit(0, 7, at(100), at(999))->until, at(200));
    EXPECT_FALSE(windows.admit(0, 7, at(200), at(210)));
    EXPECT_FALSE(windows.admit(1, 7, at(150), at(160)));
    EXPECT_TRUE(windows.admit_home(0, 7));
    EXPECT_FALSE(windows.admit_home(1, 7));
}

TEST(Windows, AnOwnerWhoIsNotConfinedMayGoAnywhere) {
    const Windows windows = one_window(kWindow, {.confined = false});
    EXPECT_TRUE(windows.admit(0, 7, at(0), at(999)));
    EXPECT_TRUE(windows.admit(1, 7, at(0), at(999)));
}

TEST(Windows, OfTwoOwnersOneMayComeFirst) {
    Windows windows = one_window(kWindow);
    windows.set_rights(8, {.comes_first = true});
    windows.add(0, {{0, 0}}, {.owner = 8, .from = at(150), .until = at(250)});
    EXPECT_FALSE(windows.admit(0, 7, at(100), at(160)));
    EXPECT_TRUE(windows.admit(0, 7, at(100), at(150)));
    EXPECT_TRUE(windows.admit(0, 8, at(150), at(160)));
}

TEST(Windows, GuestsMayStayForAWhile) {
    Window window = kWindow;
    window.guests = Seconds{10};
    const Windows windows = one_window(window);
    EXPECT_TRUE(windows.admit(0, kNobody, at(150), at(160)));
    EXPECT_FALSE(windows.admit(0, kNobody, at(150), at(161)));
}

TEST(Windows, MomentsAndHowLongAStartMayBeDeferred) {
    const Windows windows = one_window(kWindow);
    EXPECT_EQ(windows.moments(0), (Windows::Moments{{at(100), 0}, {at(200), 0}}));
    EXPECT_EQ(windows.welcome_until(0, kNobody, at(0), Seconds{30}), at(70));
    EXPECT_EQ(windows.welcome_until(0, kNobody, at(200), Seconds{30}), Instant::max());
    EXPECT_EQ(windows.welcome_until(0, 7, at(120), Seconds{30}), at(200) - Millis{1});
    EXPECT_EQ(windows.welcome_until(1, kNobody, at(0), Seconds{30}), Instant::max());
}

Window with_cores(Window window, std::string_view cores) {
    window.cores = *model::parse_index_set(cores);
    return window;
}

TEST(Windows, OfANodeOfWhichSomeCoresAreReservedOthersHaveTheRest) {
    const Windows windows = one_window(with_cores(kWindow, "0-2"));
    EXPECT_FALSE(windows.admit(0, kNobody, at(0), at(100))->is_partial());
    const auto beside = windows.admit(0, kNobody, at(0), at(101));
    ASSERT_TRUE(beside);
    EXPECT_FALSE(beside->allows(2));
    EXPECT_TRUE(beside->allows(3));
    const auto inside = windows.admit(0, 7, at(100), at(999));
    EXPECT_TRUE(inside->allows(2));
    EXPECT_FALSE(inside->allows(3));
    EXPECT_EQ(inside->until, at(200));
    EXPECT_FALSE(windows.admit_home(0, 7)->allows(3));
}

TEST(Windows, TwoOwnersHaveDifferentCoresOfANode) {
    Windows windows = one_window(with_cores(kWindow, "0-2"));
    windows.add(0, {{0, 0}}, with_cores({.owner = 8, .from = at(150), .until = at(250)}, "3"));
    EXPECT_FALSE(windows.admit(0, kNobody, at(120), at(160))->allows(3));
    EXPECT_TRUE(windows.admit(0, kNobody, at(120), at(150))->allows(3));
    EXPECT_TRUE(windows.admit(0, 8, at(150), at(160))->allows(3));
    EXPECT_FALSE(windows.admit(0, 8, at(150), at(160))->allows(0));
    EXPECT_TRUE(windows.keep_apart(0, 7, 8));
    EXPECT_TRUE(windows.keep_apart(0, 7, kNobody));
    EXPECT_FALSE(windows.keep_apart(0, 7, 7));
    EXPECT_FALSE(windows.keep_apart(1, 7, kNobody));
}

TEST(Windows, WhoDoesWithoutTheCoresOfAWindowMayAsWellBeginLater) {
    const Windows windows = one_window(with_cores(kWindow, "0-2"));
    EXPECT_EQ(windows.welcome_until(0, kNobody, at(0), Seconds{30}), at(70));
    EXPECT_EQ(windows.welcome_until(0, kNobody, at(80), Seconds{30}), Instant::max());
}

TEST(Windows, MaintenanceIsTold) {
    Window window = kWindow;
    window.maint = true;
    EXPECT_TRUE(one_window(window).is_maintained(0, kNobody, at(0), at(150)));
    EXPECT_FALSE(one_window(window).is_maintained(0, kNobody, at(0), at(50)));
    EXPECT_FALSE(one_window(kWindow).is_maintained(0, kNobody, at(0), at(150)));
}

}  // namespace
}  // namespace switchyard::core::sched
