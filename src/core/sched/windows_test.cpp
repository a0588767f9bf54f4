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
    EXPECT_EQ(windows.admit(0, 7, at(100), at(150)), at(150));
    EXPECT_EQ(windows.admit(0, 7, at(100), at(999)), at(200));
    EXPECT_FALSE(windows.admit(0, 7, at(200), at(210)));
    EXPECT_FALSE(windows.admit(1, 7, at(150), at(160)));
    EXPECT_TRUE(windows.is_home(0, 7));
    EXPECT_FALSE(windows.is_home(1, 7));
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

TEST(Windows, MaintenanceIsTold) {
    Window window = kWindow;
    window.maint = true;
    EXPECT_TRUE(one_window(window).is_maintained(0, kNobody, at(0), at(150)));
    EXPECT_FALSE(one_window(window).is_maintained(0, kNobody, at(0), at(50)));
    EXPECT_FALSE(one_window(kWindow).is_maintained(0, kNobody, at(0), at(150)));
}

}  // namespace
}  // namespace switchyard::core::sched
