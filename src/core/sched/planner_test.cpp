// The planner against a pool of a few nodes, and against a search that looks at every moment.

#include "core/sched/planner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "core/testing/pool.hpp"

namespace switchyard::core::sched {
namespace {

constexpr Instant kNow = Instant{Seconds{1000}};
using core::testing::pool_of;
constexpr std::uint32_t kCores = core::testing::kPoolCores;

Instant in(int seconds) { return kNow + Seconds{seconds}; }

void hold(NodePool& pool, NodeIndex node, std::uint32_t job, std::uint32_t cores, Instant until) {
    Holding holding;
    holding.job = JobId{job};
    holding.until = until;
    holding.grant.node = pool.node(node).name;
    for (std::uint32_t core = 0; core < kCores && holding.grant.cores.size() < cores; ++core) {
        if (pool.node(node).core_holders[core] == 0) holding.grant.cores.insert(core);
    }
    holding.grant.cpus = cores;
    pool.claim(node, holding);
}

Demand demand(const NodePool& pool, std::uint32_t nodes, std::uint32_t cpus) {
    Shape shape;
    shape.nodes_min = shape.nodes_max = nodes;
    shape.spread = shape.tasks_by_node = true;
    shape.cpus_per_task = cpus;
    return make_demand(shape, pool);
}

QueueKey key(std::uint32_t job) { return {1, 0, job, JobId{job}}; }

// As the caller of the planner does.
void keep(const NodePool& pool, BackfillReservations& plan, const Planned& planned,
          const Demand& wanted, QueueKey who, Seconds limit) {
    for (const Pick& pick : planned.picks) {
        Reserved reserved{
            who,  who.job, planned.start, planned.start + limit, planned_room(pool, wanted, pick),
            false};
        plan.add(pick.node, pool.node(pick.node).places, reserved);
    }
}

std::vector<NodeIndex> nodes_of(const Planned& planned) {
    std::vector<NodeIndex> nodes;
    for (const Pick& pick : planned.picks) nodes.push_back(pick.node);
    return nodes;
}

TEST(Planner, StartsWhenEnoughHoldersHaveLeft) {
    NodePool pool = pool_of(3);
    hold(pool, 0, 1, 8, in(300));
    hold(pool, 1, 2, 8, in(100));
    hold(pool, 2, 3, 6, in(200));
    BackfillReservations plan = pool.no_reservations();
    Planner planner(pool, plan, kNow);
    const Seconds limit{60};
    const auto small = planner.plan(0, 0, demand(pool, 1, 2), limit, key(10));
    ASSERT_TRUE(small);
    EXPECT_EQ(small->start, kNow);
    EXPECT_EQ(nodes_of(*small), (std::vector<NodeIndex>{2}));
    const auto one = planner.plan(0, 0, demand(pool, 1, 4), limit, key(11));
    EXPECT_EQ(one->start, in(100));
    const auto two = planner.plan(0, 0, demand(pool, 2, 8), limit, key(12));
    EXPECT_EQ(two->start, in(200));
    EXPECT_EQ(nodes_of(*two), (std::vector<NodeIndex>{1, 2}));
    const auto three = planner.plan(0, 0, demand(pool, 3, 8), limit, key(13));
    EXPECT_EQ(three->start, in(300));
    EXPECT_FALSE(planner.plan(0, 0, demand(pool, 4, 1), limit, key(14)));
    EXPECT_FALSE(planner.plan(0, 0, demand(pool, 1, 9), limit, key(15)));
}

TEST(Planner, NodesThatAreDownHaveNoPartInIt) {
    NodePool pool = pool_of(2);
    pool.set_open(0, false, false);
    pool.set_open(1, false, true);  // Silent for the moment.
    BackfillReservations plan = pool.no_reservations();
    Planner planner(pool, plan, kNow);
    EXPECT_EQ(planner.plan(0, 0, demand(pool, 1, 8), Seconds{60}, key(1))->picks[0].node, 1u);
    EXPECT_FALSE(planner.plan(0, 0, demand(pool, 2, 8), Seconds{60}, key(2)));
}

TEST(Planner, JobsOfOneGroupQueueUpBehindEachOther) {
    NodePool pool = pool_of(2);
    hold(pool, 0, 1, 8, in(100));
    hold(pool, 1, 2, 8, in(150));
    BackfillReservations plan = pool.no_reservations();
    Planner planner(pool, plan, kNow);
    const Demand wanted = demand(pool, 1, 8);
    const Seconds limit{1000};
    std::vector<Instant> starts;
    for (std::uint32_t job = 10; job < 14; ++job) {
        const auto planned = planner.plan(7, 0, wanted, limit, key(job));
        ASSERT_TRUE(planned);
        starts.push_back(planned->start);
        keep(pool, plan, *planned, wanted, key(job), limit);
    }
    EXPECT_EQ(starts, (std::vector<Instant>{in(100), in(150), in(1100), in(1150)}));
}

TEST(Planner, AShortJobFitsBeforeAPromiseAndALongOneDoesNot) {
    NodePool pool = pool_of(1);
    hold(pool, 0, 1, 4, in(500));
    BackfillReservations plan = pool.no_reservations();
    Planner planner(pool, plan, kNow);
    const Demand whole = demand(pool, 1, 8);
    const auto first = planner.plan(1, 0, whole, Seconds{100}, key(10));
    EXPECT_EQ(first->start, in(500));
    keep(pool, plan, *first, whole, key(10), Seconds{100});
    EXPECT_EQ(planner.plan(2, 0, demand(pool, 1, 4), Seconds{500}, key(11))->start, kNow);
    EXPECT_EQ(planner.plan(3, 0, demand(pool, 1, 4), Seconds{501}, key(12))->start, in(600));
    // Who stands ahead of the promise does not heed it.
    EXPECT_EQ(planner.plan(4, 0, demand(pool, 1, 4), Seconds{501}, key(9))->start, kNow);
}

TEST(Planner, AHolderThatIsOverdueIsExpectedToTakeAsLongAgain) {
    NodePool pool = pool_of(3);
    hold(pool, 0, 1, 8, in(-60));
    hold(pool, 1, 2, 8, in(20));
    hold(pool, 2, 3, 8, kNow);
    BackfillReservations plan = pool.no_reservations();
    Planner planner(pool, plan, kNow);
    const auto start = [&](std::uint32_t nodes) {
        return planner.plan(0, 0, demand(pool, nodes, 8), Seconds{10}, key(5))->start;
    };
    EXPECT_EQ(start(1), in(1));
    EXPECT_EQ(start(2), in(20));
    EXPECT_EQ(start(3), in(60));
}

// The earliest start by trying every moment at which anything changes.
std::optional<Instant> slow_start(NodePool pool, const BackfillReservations& plan,
                                  const Demand& wanted, Seconds limit, QueueKey who) {
    pool.set_reservations(plan);
    std::set<Instant> moments{kNow};
    for (NodeIndex i = 0; i < pool.size(); ++i) {
        for (const Holding& holding : pool.node(i).holdings) moments.insert(holding.until);
        for (const Reserved& reserved : plan.on(i)) moments.insert(reserved.until);
    }
    for (const Instant moment : moments) {
        const View view{.start = moment, .end = moment + limit, .key = who, .future = true};
        if (place(pool, 0, wanted, view)) return moment;
    }
    return std::nullopt;
}

TEST(Planner, FindsTheEarliestStartForAWholeQueue) {
    for (std::uint32_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random(seed);
        const auto upto = [&](std::uint32_t most) {
            return 1 + static_cast<std::uint32_t>(random() % most);
        };
        NodePool pool = pool_of(upto(8));
        for (NodeIndex node = 0; node < pool.size(); ++node) {
            for (std::uint32_t job = 0; job < 3; ++job) {
                const std::uint32_t cores = std::min(pool.node(node).free.cores, upto(6));
                if (cores > 0)
                    hold(pool, node, 100 * node + job + 1, cores, in(static_cast<int>(upto(50))));
            }
        }
        BackfillReservations plan = pool.no_reservations();
        Planner planner(pool, plan, kNow);
        for (std::uint32_t job = 1000; job < 1040; ++job) {
            const std::uint32_t kind = upto(6);
            const Demand wanted = demand(pool, 1 + kind % 4, 1 + kind);
            const Seconds limit{10 * kind};
            const auto expected = slow_start(pool, plan, wanted, limit, key(job));
            const auto planned = planner.plan(kind, 0, wanted, limit, key(job));
            ASSERT_EQ(planned.has_value(), expected.has_value());
            if (!planned) continue;
            ASSERT_EQ(planned->start, *expected);
            keep(pool, plan, *planned, wanted, key(job), limit);
        }
    }
}

// So many tasks, wherever there is room for them.
Demand anywhere(const NodePool& pool, std::uint32_t tasks, std::uint32_t cpus) {
    Shape shape;
    shape.tasks = tasks;
    shape.cpus_per_task = cpus;
    return make_demand(shape, pool);
}

TEST(Planner, TasksThatFitNoSingleNodeAreSpreadAsSoonAsAllOfThemCan) {
    NodePool pool = pool_of(3);
    hold(pool, 0, 1, 8, in(300));
    hold(pool, 1, 2, 6, in(100));
    hold(pool, 2, 3, 8, in(200));
    BackfillReservations plan = pool.no_reservations();
    Planner planner(pool, plan, kNow);
    const Demand wanted = anywhere(pool, 12, 1);
    const auto first = planner.plan(1, 0, wanted, Seconds{50}, key(10));
    ASSERT_TRUE(first);
    EXPECT_EQ(first->start, in(200));
    EXPECT_EQ(nodes_of(*first), (std::vector<NodeIndex>{1, 2}));
    keep(pool, plan, *first, wanted, key(10), Seconds{50});
    // The next of its kind has the rest, and what it does not hinder goes before it.
    EXPECT_EQ(planner.plan(1, 0, wanted, Seconds{50}, key(11))->start, in(250));
    EXPECT_EQ(planner.plan(2, 0, anywhere(pool, 8, 1), Seconds{100}, key(12))->start, in(100));
    EXPECT_FALSE(planner.plan(3, 0, anywhere(pool, 25, 1), Seconds{50}, key(13)));
}

TEST(Planner, WhatLiesBehindTheHorizonIsOutOfSight) {
    NodePool pool = pool_of(2);
    hold(pool, 0, 1, 8, in(100));
    hold(pool, 1, 2, 8, in(200));
    BackfillReservations plan = pool.no_reservations();
    Planner planner(pool, plan, kNow, {.from = kNow, .horizon = in(150)});
    const Seconds limit{1000};
    EXPECT_EQ(planner.plan(0, 0, demand(pool, 1, 8), limit, key(10))->start, in(100));
    EXPECT_FALSE(planner.plan(0, 0, demand(pool, 2, 8), limit, key(11)));
    EXPECT_FALSE(planner.plan(0, 0, anywhere(pool, 9, 1), limit, key(12)));
}

// The place of every job in the plan, also of the wide ones that nobody waits with, is there: the
// jobs behind never take from what was kept for those ahead.
TEST(Planner, AMixedQueueIsPlannedNoLaterThanByLookingAtEveryMoment) {
    for (std::uint32_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random(seed);
        const auto upto = [&](std::uint32_t most) {
            return 1 + static_cast<std::uint32_t>(random() % most);
        };
        NodePool pool = pool_of(2 + upto(6));
        for (NodeIndex node = 0; node < pool.size(); ++node) {
            for (std::uint32_t job = 0; job < 3; ++job) {
                const std::uint32_t cores = std::min(pool.node(node).free.cores, upto(6));
                if (cores > 0)
                    hold(pool, node, 100 * node + job + 1, cores, in(static_cast<int>(upto(50))));
            }
        }
        BackfillReservations plan = pool.no_reservations();
        Planner planner(pool, plan, kNow);
        for (std::uint32_t job = 1000; job < 1030; ++job) {
            const std::uint32_t kind = upto(12);
            // More tasks than a node has cores: no single one will do.
            const Demand wanted = kind > 6 ? anywhere(pool, kCores + kind - 6, 1)
                                           : demand(pool, 1 + kind % 3, 1 + kind);
            const Seconds limit{10 * kind};
            const auto expected = slow_start(pool, plan, wanted, limit, key(job));
            const auto planned = planner.plan(kind, 0, wanted, limit, key(job));
            ASSERT_EQ(planned.has_value(), expected.has_value());
            if (!planned) continue;
            ASSERT_EQ(planned->start, *expected) << "job " << job;
            keep(pool, plan, *planned, wanted, key(job), limit);
        }
    }
}

}  // namespace
}  // namespace switchyard::core::sched
