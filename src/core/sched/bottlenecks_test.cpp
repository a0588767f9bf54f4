// bottlenecks_test.cpp: what a plan leaves of a node at its narrowest.

#include "core/sched/bottlenecks.hpp"

#include <gtest/gtest.h>

#include "core/testing/pool.hpp"

namespace switchyard::core::sched {
namespace {

constexpr Instant kNow = Instant{Seconds{1000}};

Instant in(int seconds) { return kNow + Seconds{seconds}; }
QueueKey key(std::uint32_t job) { return {1, 0, job, JobId{job}}; }

class BottlenecksTest : public ::testing::Test {
  protected:
    void keep(std::uint32_t job, std::uint32_t cores, int from, int until, bool whole = false) {
        Room room;
        room.cores = cores;
        room.holders = 1;
        plan.add(0, pool.node(0).places, {key(job), JobId{job}, in(from), in(until), room, whole});
    }
    bool stops(std::uint32_t cores, int from, int until) {
        bottlenecks.take_in(outlook, key(10));
        return bottlenecks.stop(0, cores, in(from), in(until), key(10));
    }

    NodePool pool = core::testing::pool_of(2);
    BackfillReservations plan = pool.no_reservations();
    Outlook outlook{pool, plan, kNow, kNow};
    Bottlenecks bottlenecks{plan};
};

TEST_F(BottlenecksTest, WhoStaysBeyondTheMomentIsStoppedIfHeNeedsMoreThanIsLeft) {
    EXPECT_FALSE(stops(8, 0, 1000));
    keep(5, 3, 100, 200);
    EXPECT_TRUE(stops(6, 0, 101));
    EXPECT_FALSE(stops(5, 0, 101));
    EXPECT_FALSE(stops(6, 0, 100));
    EXPECT_FALSE(stops(6, 150, 300));  // It is not looked at from there.
    EXPECT_FALSE(bottlenecks.stop(1, 8, kNow, in(1000), key(10)));
}

TEST_F(BottlenecksTest, TheNarrowestMomentIsKeptAndTheEarlierOfTwo) {
    keep(5, 8, 300, 400);
    keep(6, 2, 100, 150);  // Leaves more: the other one says more.
    EXPECT_TRUE(stops(1, 0, 301));
    EXPECT_FALSE(stops(8, 0, 101));
    keep(7, 1, 200, 250, true);
    EXPECT_TRUE(stops(1, 0, 201));
}

TEST_F(BottlenecksTest, WhoStandsAheadIsNotStopped) {
    keep(5, 8, 100, 200);
    EXPECT_TRUE(stops(1, 0, 101));
    EXPECT_FALSE(bottlenecks.stop(0, 1, kNow, in(101), key(4)));
    keep(12, 8, 50, 60);  // Behind everybody who asks.
    EXPECT_FALSE(stops(1, 0, 60));
}

TEST_F(BottlenecksTest, WhatIsDroppedStopsNobody) {
    keep(5, 8, 100, 200);
    EXPECT_TRUE(stops(1, 0, 101));
    plan.drop(0, pool.node(0).places, JobId{5});
    EXPECT_FALSE(stops(1, 0, 101));
}

}  // namespace
}  // namespace switchyard::core::sched
