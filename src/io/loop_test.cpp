// Goal: the loop keeps its promises about order, lifetime and threads. Method: real descriptors and
// clocks, delays of a few milliseconds, and a stop from inside.
#include "io/loop.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "io/fd.hpp"
#include "io/timer_heap.hpp"

namespace switchyard::io {
namespace {

using namespace std::chrono_literals;

struct Pair {
    Fd a, b;
    Pair() {
        int fds[2];
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
        a.reset(fds[0]);
        b.reset(fds[1]);
    }
};

TEST(Loop, FiresTimersInOrderOfTimeAndThoseOfOneMomentInOrderOfCreation) {
    Loop loop;
    std::string order;
    const Instant start = loop.now();
    const auto c = loop.at(start + 20ms, [&] {
        order += "c";
        loop.stop();
    });
    const auto a = loop.at(start + 5ms, [&] { order += "a"; });
    const auto b = loop.at(start + 10ms, [&] { order += "b"; });
    const auto x = loop.at(start + 7ms, [&] { order += "x"; });
    const auto y = loop.at(start + 7ms, [&] { order += "y"; });
    loop.run();
    EXPECT_EQ(order, "axybc");
    EXPECT_FALSE(a);
}

TEST(Loop, NeverFiresATimerEarly) {
    Loop loop;
    const auto start = std::chrono::steady_clock::now();
    const auto timer = loop.after(15ms, [&] { loop.stop(); });
    EXPECT_TRUE(timer);
    loop.run();
    EXPECT_GE(std::chrono::steady_clock::now() - start, 15ms);
}

TEST(Loop, FiresAWallTimerOfThePastAtOnceAndNotBeforeItsInstant) {
    Loop loop;
    int fired = 0;
    const auto past = loop.at(loop.now() - 1h, [&] { ++fired; });
    const Instant due = loop.now() + 12ms;
    const auto timer = loop.at(due, [&] {
        EXPECT_GE(loop.now(), due);
        loop.stop();
    });
    loop.run();
    EXPECT_EQ(fired, 1);
}

TEST(Loop, DestroyingATimerCancelsItAlsoFromInsideItsOwnCallback) {
    Loop loop;
    bool wrong = false;
    std::optional<Loop::Timer> own;
    std::optional<Loop::Timer> other = loop.after(8ms, [&] { wrong = true; });
    own = loop.after(2ms, [&] {
        own.reset();
        other.reset();
    });
    const auto end = loop.after(20ms, [&] { loop.stop(); });
    loop.run();
    EXPECT_FALSE(wrong);
}

TEST(Loop, ATimerMayRearmItself) {
    Loop loop;
    int count = 0;
    Loop::Timer timer;
    const std::function<void()> again = [&] {
        if (++count == 5) return loop.stop();
        timer = loop.after(1ms, again);
    };
    timer = loop.after(1ms, again);
    loop.run();
    EXPECT_EQ(count, 5);
}

TEST(Loop, DeliversReadinessAndPausesWithAnEmptyMask) {
    Loop loop;
    Pair pair;
    int calls = 0;
    Loop::Watch watch;
    watch = loop.watch(pair.a.get(), EPOLLIN, [&](std::uint32_t events) {
        EXPECT_TRUE(events & EPOLLIN);
        ++calls;
        watch.set_events(
            0);  // The byte stays unread and the peer hangs up; still nothing may come.
        pair.b.reset();
    });
    ASSERT_EQ(::write(pair.b.get(), "x", 1), 1);
    const auto end = loop.after(10ms, [&] { loop.stop(); });
    loop.run();
    EXPECT_EQ(calls, 1);
    watch.set_events(EPOLLIN);
    const auto end2 = loop.after(10ms, [&] { loop.stop(); });
    loop.run();
    EXPECT_EQ(calls, 2);
}

TEST(Loop, AWatchDestroyedByAnotherCallbackOfTheSameBatchIsNotCalled) {
    Loop loop;
    constexpr int kPairs = 64;
    std::array<Pair, kPairs> pairs;
    std::vector<Loop::Watch> watches(kPairs);
    int calls = 0;
    for (std::size_t i = 0; i < kPairs; ++i) {
        watches[i] = loop.watch(pairs[i].a.get(), EPOLLIN, [&](std::uint32_t) {
            ++calls;
            watches.clear();  // Its own, too.
        });
        ASSERT_EQ(::write(pairs[i].b.get(), "x", 1), 1);
    }
    const auto end = loop.after(10ms, [&] { loop.stop(); });
    loop.run();
    EXPECT_EQ(calls, 1);
}

TEST(Loop, AWatchMayReplaceItselfInsideItsCallback) {
    Loop loop;
    Pair pair;
    Loop::Watch watch;
    std::string seen;
    watch = loop.watch(pair.a.get(), EPOLLIN, [&](std::uint32_t) {
        seen += "1";
        watch = Loop::Watch();
        watch = loop.watch(pair.a.get(), EPOLLIN, [&](std::uint32_t) {
            seen += "2";
            loop.stop();
        });
    });
    ASSERT_EQ(::write(pair.b.get(), "x", 1), 1);
    loop.run();
    EXPECT_EQ(seen, "12");
}

TEST(Loop, AFileThatEpollRefusesIsAlwaysReady) {
    Loop loop;
    const Fd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    int calls = 0;
    Loop::Watch watch;
    watch = loop.watch(file.get(), EPOLLIN, [&](std::uint32_t) {
        if (++calls < 3) return;
        watch = Loop::Watch();
        loop.stop();
    });
    loop.run();
    EXPECT_EQ(calls, 3);
}

TEST(Loop, RunsPostedWorkOfManyThreadsInTheOrderOfEach) {
    Loop loop;
    constexpr int kThreads = 4, kEach = 2000;
    std::vector<std::vector<int>> seen(kThreads);
    int total = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < kEach; ++i) {
                loop.post([&, t, i] {
                    seen[static_cast<std::size_t>(t)].push_back(i);
                    if (++total == kThreads * kEach) loop.stop();
                });
            }
        });
    }
    loop.run();
    for (auto& thread : threads) thread.join();
    for (const auto& one : seen) EXPECT_TRUE(std::ranges::is_sorted(one));
    EXPECT_EQ(total, kThreads * kEach);
}

TEST(Loop, StopFromAnotherThreadEndsItEvenBeforeItRuns) {
    Loop loop;
    std::thread([&] { loop.stop(); }).join();
    loop.run();
    std::thread other([&] { loop.stop(); });
    loop.run();
    other.join();
}

TEST(Loop, WorkPostedBehindAStopWaitsForTheNextRun) {
    Loop loop;
    std::string order;
    loop.post([&] {
        order += "a";
        loop.stop();
    });
    loop.post([&] { order += "b"; });
    loop.run();
    EXPECT_EQ(order, "a");
    loop.post([&] {
        order += "c";
        loop.stop();
    });
    loop.run();
    EXPECT_EQ(order, "abc");
}

TEST(Loop, DeferredWorkRunsOnceAtTheEndOfTheTurnAndBeforeRunReturns) {
    Loop loop;
    std::string order;
    Loop::Timer second;
    const auto first = loop.after(1ms, [&] {
        loop.defer([&] {
            order += "d";
            second = loop.after(1ms, [&] {
                loop.defer([&] { order += "e"; });
                order += "b";
                loop.stop();
            });
        });
        order += "a";
    });
    loop.run();
    EXPECT_EQ(order, "adbe");
}

TEST(Loop, WhatDeferredWorkDefersIsDoneBeforeTheLoopWaitsButNotForEver) {
    Loop loop;
    int rounds = 0, rounds_before_event = 0;
    std::function<void()> again = [&] {
        ++rounds;
        loop.defer(again);
    };
    const auto timer = loop.after(0ms, [&] {
        rounds_before_event = rounds;
        loop.stop();
    });
    again();
    loop.run();
    EXPECT_GT(rounds_before_event, 2);
    EXPECT_LT(rounds_before_event, 100);
}

TEST(Loop, FiresTimersOfBothClocksInOrderAlsoWhenItWasHeldUp) {
    Loop loop;
    std::string order;
    const auto b = loop.after(1ms, [&] { order += "b"; });
    const auto c = loop.at(loop.now() + 100ms, [&] {
        order += "c";
        loop.stop();
    });
    const auto a = loop.at(loop.now() - 1h, [&] { order += "a"; });
    std::this_thread::sleep_for(200ms);
    loop.run();
    EXPECT_EQ(order, "abc");
}

TEST(Loop, DeliversSignals) {
    Loop loop;
    int caught = 0;
    const auto watch = loop.on_signal(SIGUSR2, [&] {
        ++caught;
        loop.stop();
    });
    ::kill(::getpid(), SIGUSR2);
    loop.run();
    EXPECT_EQ(caught, 1);
}

TEST(Loop, NowStandsStillDuringATurn) {
    Loop loop;
    const auto timer = loop.after(1ms, [&] {
        const Instant before = loop.now();
        std::this_thread::sleep_for(5ms);
        EXPECT_EQ(loop.now(), before);
        loop.stop();
    });
    loop.run();
}

TEST(Loop, HandlesMayOutliveIt) {
    Pair pair;
    Loop::Watch watch;
    Loop::Timer timer;
    {
        Loop loop;
        watch = loop.watch(pair.a.get(), EPOLLIN, [](std::uint32_t) {});
        timer = loop.after(1h, [] {});
    }
    EXPECT_TRUE(watch);
}

TEST(TimerHeap, YieldsMembersInOrderAfterRandomRemovals) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        std::vector<TimerNode> nodes(100);
        TimerHeap heap;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            nodes[i].due = static_cast<std::int64_t>(random() % 20);
            nodes[i].sequence = i;
            heap.insert(nodes[i]);
        }
        std::size_t left = nodes.size();
        for (TimerNode& node : nodes) {
            if (random() % 2 == 0) continue;
            heap.remove(node);
            --left;
        }
        const TimerNode* last = nullptr;
        for (; !heap.empty(); --left) {
            TimerNode& top = heap.top();
            if (last) EXPECT_TRUE(last->before(top));
            last = &top;
            heap.remove(top);
        }
        EXPECT_EQ(left, 0u);
    }
}

}  // namespace
}  // namespace switchyard::io
