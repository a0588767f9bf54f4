// Groups, and which of them are looked at when.

#include "core/sched/queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/testing/pool.hpp"

namespace switchyard::core::sched {
namespace {

constexpr Instant kNow = Instant{Seconds{1000}};

class QueueTest : public ::testing::Test {
  protected:
    void SetUp() override {
        queue.set_partition_count(1);
        for (NodeIndex i = 0; i < pool.size(); ++i) hold(i, 8);
    }

    void hold(NodeIndex node, std::uint32_t cores) {
        Holding holding;
        holding.job = JobId{1 + node};
        holding.until = kNow + Seconds{1000};
        holding.grant.node = pool.node(node).name;
        holding.grant.cores = model::IndexSet::range(0, cores - 1);
        pool.claim(node, holding);
    }
    void free(NodeIndex node) {
        pool.release(node, JobId{1 + node});
        queue.wake(node);
    }

    void add(std::uint32_t job, std::uint32_t nodes, std::uint32_t cpus, int limit = 60) {
        Shape shape;
        shape.nodes_min = shape.nodes_max = nodes;
        shape.spread = shape.tasks_by_node = true;
        shape.cpus_per_task = cpus;
        queue.add({1, 0, job, JobId{job}}, 0, shape, Seconds{limit}, pool);
        queue.check_invariants();
    }
    Group& group(std::uint32_t job) { return *queue.group_of(JobId{job}, 0); }
    std::vector<std::uint32_t> offered() {
        std::vector<std::uint32_t> jobs;
        for (const Offer& offer : queue.take_offers(pool, kNow)) {
            if (const Group* served = queue.first_served(offer, false, pool, kNow))
                jobs.push_back(served->members.begin()->job.value);
        }
        std::ranges::sort(jobs);
        return jobs;
    }

    NodePool pool = core::testing::pool_of(4);
    Queue queue;
};

using QueueOfJobs = QueueTest;

TEST_F(QueueOfJobs, EqualNeedsAreOneGroup) {
    add(10, 1, 2);
    add(11, 1, 2);
    add(12, 1, 2, 120);
    add(13, 1, 3);
    EXPECT_EQ(queue.size(), 4u);
    EXPECT_EQ(queue.group_count(), 3u);
    EXPECT_EQ(group(10).id, group(11).id);
    EXPECT_EQ(group(10).shape_id, group(12).shape_id);
    EXPECT_NE(group(10).shape_id, group(13).shape_id);
    queue.remove(JobId{10});
    queue.remove(JobId{11});
    queue.check_invariants();
    EXPECT_EQ(queue.group_count(), 2u);
    EXPECT_EQ(queue.front(0)->job, JobId{12});
}

TEST_F(QueueOfJobs, WhatIsTooLargeForEveryNodeIsNotLookedAt) {
    add(10, 1, 8);
    add(11, 1, 2);
    EXPECT_EQ(queue.foremost(pool), nullptr) << "the nodes are full";
    free(3);
    hold(3, 6);
    EXPECT_EQ(queue.foremost(pool), &group(11)) << "two cores are free";
}

TEST_F(QueueOfJobs, ABlockedGroupWaitsForANodeThatServesIt) {
    add(10, 1, 8);
    add(11, 1, 2);
    queue.block(group(10), 1);
    queue.block(group(11), 1);
    EXPECT_FALSE(queue.has_offers());
    free(0);
    hold(0, 6);
    EXPECT_EQ(offered(), (std::vector<std::uint32_t>{11}));
    free(1);
    EXPECT_EQ(offered(), (std::vector<std::uint32_t>{10, 11}));
    queue.check_invariants();
}

TEST_F(QueueOfJobs, AGroupThatMissesSeveralNodesWaitsForAsMany) {
    add(10, 4, 8);
    queue.block(group(10), 3);
    free(0);
    EXPECT_TRUE(offered().empty());
    free(1);
    EXPECT_TRUE(offered().empty());
    free(2);
    EXPECT_EQ(offered(), (std::vector<std::uint32_t>{10}));
}

TEST_F(QueueOfJobs, AnOfferGoesToTheNextWhenTheFirstDoesNotTakeIt) {
    add(10, 1, 2, 600);
    add(11, 1, 2, 900);
    add(12, 1, 2, 60);
    for (const std::uint32_t job : {10u, 11u, 12u}) queue.block(group(job), 1);
    free(0);
    const auto offers = queue.take_offers(pool, kNow);
    ASSERT_EQ(offers.size(), 1u) << "one shape, one offer";
    EXPECT_EQ(offers[0].key.job, JobId{10});
    EXPECT_EQ(queue.first_served(offers[0], false, pool, kNow), &group(10));
    EXPECT_EQ(queue.first_served(offers[0], true, pool, kNow), &group(11));
    hold(0, 7);
    EXPECT_EQ(queue.first_served(offers[0], true, pool, kNow), nullptr) << "the room is gone";
}

TEST_F(QueueOfJobs, ANewcomerMissesWhatItsLikesAheadMiss) {
    add(10, 4, 8, 600);
    queue.block(group(10), 2);
    free(0);
    EXPECT_TRUE(offered().empty());
    add(11, 4, 8, 900);
    EXPECT_TRUE(group(11).blocked) << "it would stay longer than one that found no room";
    add(12, 4, 8, 60);
    EXPECT_FALSE(group(12).blocked) << "a shorter one may find some";
    add(9, 4, 8, 1200);
    EXPECT_FALSE(group(9).blocked) << "one ahead may take what is kept for others";
    free(1);
    EXPECT_EQ(offered(), (std::vector<std::uint32_t>{10}));
    EXPECT_EQ(group(11).due, group(10).due) << "and waits for the same nodes";
}

TEST_F(QueueOfJobs, APromiseLetsOnlyTheShortThrough) {
    add(9, 1, 8);
    add(10, 1, 2, 600);
    add(11, 1, 2, 60);
    for (const std::uint32_t job : {10u, 11u}) queue.block(group(job), 1);
    Reserved reserved{{1, 0, 9, JobId{9}}, JobId{9}, kNow + Seconds{100},
                      kNow + Seconds{200}, {},       true};
    pool.reserve(0, reserved);
    free(0);
    EXPECT_EQ(offered(), (std::vector<std::uint32_t>{11}));
}

TEST_F(QueueOfJobs, TheHopelessHoldUpNobody) {
    add(10, 5, 8);
    add(11, 1, 8);
    queue.set_hopeless(group(10), true);
    queue.check_invariants();
    EXPECT_EQ(queue.front(0)->job, JobId{11});
    EXPECT_EQ(queue.next_behind(std::nullopt)->first.job, JobId{11});
    queue.set_hopeless(group(10), false);
    const auto first = queue.next_behind(std::nullopt);
    EXPECT_EQ(first->first.job, JobId{10});
    EXPECT_EQ(queue.next_behind(first)->first.job, JobId{11});
    EXPECT_FALSE(queue.next_behind(queue.next_behind(first)));
}

TEST_F(QueueOfJobs, InLineOnlyTheFirstIsLookedAt) {
    add(10, 1, 8);
    add(11, 1, 1);
    EXPECT_EQ(queue.foremost_in_line(pool), &group(10));
    queue.block(group(10), 1);
    EXPECT_EQ(queue.foremost_in_line(pool), nullptr);
    queue.wake_line();
    EXPECT_EQ(queue.foremost_in_line(pool), &group(10));
}

TEST_F(QueueOfJobs, WhoWasBlockedMayTryWhenTheLineHasMovedMeanwhile) {
    add(10, 1, 8);
    queue.block(group(10), 1);
    add(5, 1, 2);
    EXPECT_EQ(queue.foremost_in_line(pool), &group(5)) << "it came later and stands ahead";
    queue.wake_line();
    queue.remove(JobId{5});
    EXPECT_EQ(queue.foremost_in_line(pool), &group(10));
}

}  // namespace
}  // namespace switchyard::core::sched
