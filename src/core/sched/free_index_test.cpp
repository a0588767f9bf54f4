#include "core/sched/free_index.hpp"

#include <gtest/gtest.h>

#include <random>

namespace switchyard::core::sched {
namespace {

Capacity cores(std::uint32_t count) {
    Capacity capacity;
    capacity.cores = capacity.cores_beside = count;
    return capacity;
}

Least at_least(std::uint32_t count) {
    Least least;
    least.cores = count;
    return least;
}

TEST(FreeIndex, FindsTheFirstNodeThatHasEnough) {
    FreeIndex index(5);
    index.set(1, cores(4));
    index.set(3, cores(8));
    EXPECT_EQ(index.find(0, at_least(1)), 1u);
    EXPECT_EQ(index.find(2, at_least(1)), 3u);
    EXPECT_EQ(index.find(0, at_least(5)), 3u);
    EXPECT_EQ(index.find(4, at_least(1)), FreeIndex::kNone);
    EXPECT_EQ(index.find(0, at_least(9)), FreeIndex::kNone);
    EXPECT_EQ(index.most_cores(), 8u);
    index.set(3, cores(0));
    EXPECT_EQ(index.most_cores(), 4u);
    EXPECT_EQ(index.find(2, at_least(1)), FreeIndex::kNone);
}

TEST(FreeIndex, AnEmptyPartitionHasNothing) {
    const FreeIndex index(0);
    EXPECT_EQ(index.find(0, at_least(1)), FreeIndex::kNone);
    EXPECT_EQ(index.most_cores(), 0u);
}

TEST(FreeIndex, AllThingsMustBeOnOneNode) {
    FreeIndex index(4);
    Capacity memory = cores(1), gpus = cores(2), idle = cores(3);
    memory.memory = 1000;
    gpus.gpus = 4;
    idle.idle = true;
    index.set(0, memory);
    index.set(1, gpus);
    index.set(2, idle);
    Least least = at_least(1);
    least.memory = 500;
    EXPECT_EQ(index.find(0, least), 0u);
    least.gpus = 1;
    EXPECT_EQ(index.find(0, least), FreeIndex::kNone);
    least.memory = 0;
    EXPECT_EQ(index.find(0, least), 1u);
    least.gpus = 0;
    least.idle = true;
    EXPECT_EQ(index.find(0, least), 2u);
}

TEST(FreeIndex, WhatIsPromisedToOthersServesOnlyTheShort) {
    FreeIndex index(2);
    Capacity promised = cores(8);
    promised.until = Instant{Seconds{100}};
    promised.cores_beside = 2;
    index.set(0, promised);
    Least least = at_least(4);
    least.end = Instant{Seconds{200}};
    EXPECT_EQ(index.find(0, least), 0u) << "whoever stands ahead of the promise need not heed it";
    least.heeds = true;
    EXPECT_EQ(index.find(0, least), FreeIndex::kNone);
    least.cores = 2;
    EXPECT_EQ(index.find(0, least), 0u) << "there is room beside it";
    least.cores = 4;
    least.end = Instant{Seconds{100}};
    EXPECT_EQ(index.find(0, least), 0u) << "it is gone in time";
}

TEST(FreeIndex, AgreesWithALookAtEveryNode) {
    std::mt19937 generator(11);
    const auto random = [&] { return static_cast<std::uint32_t>(generator()); };
    for (int round = 0; round < 50; ++round) {
        const std::uint32_t places = 1 + random() % 40;
        FreeIndex index(places);
        std::vector<Capacity> all(places);
        for (int change = 0; change < 200; ++change) {
            const std::uint32_t place = random() % places;
            all[place] = cores(random() % 5);
            all[place].memory = random() % 5;
            all[place].gpus = random() % 3;
            index.set(place, all[place]);
            Least least = at_least(1 + random() % 4);
            least.memory = random() % 5;
            least.gpus = random() % 3;
            const std::uint32_t from = random() % places;
            std::uint32_t expected = FreeIndex::kNone;
            for (std::uint32_t at = from; at < places && expected == FreeIndex::kNone; ++at) {
                if (all[at].cores >= least.cores && all[at].memory >= least.memory &&
                    all[at].gpus >= least.gpus)
                    expected = at;
            }
            ASSERT_EQ(index.find(from, least), expected);
        }
    }
}

}  // namespace
}  // namespace switchyard::core::sched
