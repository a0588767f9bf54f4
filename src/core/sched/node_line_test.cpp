// Lines of one node, the outlook that keeps them in step with a plan, and the sums over a
// partition.

#include "core/sched/node_line.hpp"

#include <gtest/gtest.h>

#include "core/sched/outlook.hpp"
#include "core/sched/supply.hpp"
#include "core/testing/pool.hpp"

namespace switchyard::core::sched {
namespace {

constexpr Instant kNow = Instant{Seconds{1000}};

Instant in(int seconds) { return kNow + Seconds{seconds}; }
QueueKey key(std::uint32_t job) { return {1, 0, job, JobId{job}}; }

class NodeLineTest : public ::testing::Test {
  protected:
    void hold(NodeIndex node, std::uint32_t job, std::uint32_t first, std::uint32_t last,
              Instant until) {
        Holding holding;
        holding.job = JobId{job};
        holding.until = until;
        holding.grant.node = pool.node(node).name;
        holding.grant.cores = model::IndexSet::range(first, last);
        holding.grant.memory = model::MiB{100};
        pool.claim(node, holding);
    }
    void keep(NodeIndex node, std::uint32_t job, std::uint32_t cores, int from, int until,
              bool whole = false) {
        Room room;
        room.cores = cores;
        room.holders = 1;
        plan->add(node, pool.node(node).places,
                  {key(job), JobId{job}, in(from), in(until), room, whole});
    }

    NodePool pool = core::testing::pool_of(2);
    std::optional<BackfillReservations> plan = pool.no_reservations();
};

TEST_F(NodeLineTest, HoldersLeaveOneAfterTheOtherAndOverdueOnesSoon) {
    hold(0, 1, 0, 1, in(-10));
    hold(0, 2, 2, 4, in(100));
    hold(0, 3, 5, 7, in(200));
    const NodeLine line(pool.node(0), kNow, kNow);
    EXPECT_EQ(line.least(kNow, in(50)).cores, 0u);
    EXPECT_EQ(line.least(in(10), in(50)).cores, 2u);
    EXPECT_EQ(line.least(in(100), in(150)).cores, 5u);
    EXPECT_EQ(line.least(in(100), in(150)).memory, 900u);
    EXPECT_EQ(line.least(in(50), in(500)).cores, 2u);
    EXPECT_EQ(line.least(in(200), in(500)).cores, 8u);
    EXPECT_EQ(line.least(in(200), in(500)).holders, 0u);
}

TEST_F(NodeLineTest, AKeptPlaceTakesItsAmountsForItsTimeAndNoLonger) {
    NodeLine line(pool.node(0), kNow, kNow);
    Room room;
    room.cores = 6;
    line.take({key(5), JobId{5}, in(100), in(200), room, false});
    EXPECT_EQ(line.least(kNow, in(100)).cores, 8u);
    EXPECT_EQ(line.least(kNow, in(101)).cores, 2u);
    EXPECT_EQ(line.least(in(199), in(300)).holders, 1u);
    EXPECT_EQ(line.least(in(200), in(300)).cores, 8u);
    line.take({key(6), JobId{6}, in(150), in(250), room, true});
    EXPECT_EQ(line.least(in(150), in(160)).cores, 0u);
    EXPECT_EQ(line.least(in(150), in(160)).memory, 0u);
    line.take({key(7), JobId{7}, in(-50), kNow, room, false});  // Over.
    EXPECT_EQ(line.least(kNow, in(1)).cores, 8u);
}

TEST_F(NodeLineTest, TheFirstMomentWithEnoughForLongEnough) {
    hold(0, 1, 0, 3, in(100));
    NodeLine line(pool.node(0), kNow, kNow);
    Room room;
    room.cores = 8;
    line.take({key(5), JobId{5}, in(150), in(300), room, false});
    EXPECT_EQ(line.first_with(4, kNow, Seconds{150}), kNow);
    EXPECT_EQ(line.first_with(5, kNow, Seconds{50}), in(100));
    EXPECT_EQ(line.first_with(5, kNow, Seconds{51}), in(300));
    EXPECT_EQ(line.first_with(4, in(20), Seconds{130}), in(20));
    EXPECT_EQ(line.first_with(4, in(20), Seconds{131}), in(300));
    EXPECT_FALSE(line.first_with(9, kNow, Seconds{1}));
    EXPECT_EQ(line.next_slot(in(100)), in(150));
    EXPECT_FALSE(line.next_slot(in(300)));
}

TEST_F(NodeLineTest, TheOutlookFollowsThePlanAndThePool) {
    Outlook outlook(pool, *plan, kNow, kNow);
    EXPECT_EQ(outlook.line(0, key(10)).least(kNow, in(100)).cores, 8u);
    keep(0, 5, 3, 10, 50);
    EXPECT_EQ(outlook.line(0, key(10)).least(kNow, in(100)).cores, 5u);
    keep(0, 6, 2, 20, 60);
    EXPECT_EQ(outlook.line(0, key(10)).least(kNow, in(100)).cores, 3u);
    hold(0, 1, 0, 0, in(30));
    EXPECT_EQ(outlook.line(0, key(10)).least(kNow, in(100)).cores, 2u);
    plan->drop(0, pool.node(0).places, JobId{5});
    EXPECT_EQ(outlook.line(0, key(10)).least(kNow, in(100)).cores, 5u);
    EXPECT_EQ(outlook.line(1, key(10)).least(kNow, in(100)).cores, 8u);
}

TEST_F(NodeLineTest, OnlyPlacesOfThoseAheadAreHeeded) {
    keep(0, 5, 3, 10, 50);
    keep(0, 7, 2, 10, 50);
    Outlook outlook(pool, *plan, kNow, kNow);
    const auto cores = [&](std::uint32_t job) {
        return outlook.line(0, key(job)).least(kNow, in(100)).cores;
    };
    EXPECT_EQ(cores(6), 5u);
    EXPECT_EQ(cores(8), 3u);
    EXPECT_EQ(cores(5), 8u);
    EXPECT_EQ(cores(7), 5u);
    keep(0, 6, 1, 10, 50);
    EXPECT_EQ(cores(7), 4u);
    EXPECT_EQ(cores(6), 5u);
}

TEST_F(NodeLineTest, TheSupplyOfAPartitionIsTheSumOfItsLines) {
    hold(0, 1, 0, 7, in(100));
    hold(1, 2, 0, 3, in(200));
    keep(1, 5, 8, 300, 400);
    Outlook outlook(pool, *plan, kNow, kNow);
    Supply supply(pool, 0, outlook, key(10));
    EXPECT_EQ(supply.first_with({4, 0}, kNow, Seconds{10}), kNow);
    EXPECT_EQ(supply.first_with({5, 0}, kNow, Seconds{10}), in(100));
    EXPECT_EQ(supply.first_with({16, 0}, kNow, Seconds{100}), in(200));
    EXPECT_EQ(supply.first_with({16, 0}, kNow, Seconds{101}), in(400));
    EXPECT_FALSE(supply.first_with({17, 0}, kNow, Seconds{1}));
    EXPECT_FALSE(supply.first_with({1, 1}, kNow, Seconds{1}));
    EXPECT_EQ(supply.next_growth(kNow), in(100));
    EXPECT_EQ(supply.next_growth(in(200)), in(400));  // At 300 there is only less.
    supply.take(in(100), in(250), {8, 0});
    EXPECT_EQ(supply.first_with({5, 0}, kNow, Seconds{10}), in(200));
    EXPECT_EQ(supply.first_with({16, 0}, kNow, Seconds{50}), in(250));
}

}  // namespace
}  // namespace switchyard::core::sched
