// Whose turn it is, and who is told that the room is gone.

#include "core/sched/offers.hpp"

#include <gtest/gtest.h>

namespace switchyard::core::sched {
namespace {

Offer offer(std::uint32_t job, NodeIndex node, std::uint32_t cores) {
    return {{1, 0, job, JobId{job}}, node, 0, job, cores, 0};
}

TEST(Offers, TurnsGoByTheQueueOverAllNodes) {
    Offers offers;
    offers.add({offer(12, 1, 1), offer(10, 1, 1), offer(11, 2, 1)});
    offers.add({offer(9, 2, 1)});
    std::vector<std::uint32_t> jobs;
    while (!offers.empty()) {
        const QueueKey first = offers.first_key();
        jobs.push_back(offers.take_first().key.job.value);
        EXPECT_EQ(first.job.value, jobs.back());
    }
    EXPECT_EQ(jobs, (std::vector<std::uint32_t>{9, 10, 11, 12}));
}

TEST(Offers, WhoNeedsMoreThanIsLeftHasNoTurn) {
    Offers offers;
    offers.add({offer(10, 1, 4), offer(11, 1, 1), offer(12, 2, 4)});
    Room left;
    left.cores = 2;
    offers.keep(1, left);
    EXPECT_EQ(offers.take_first().key.job, JobId{11});
    EXPECT_EQ(offers.take_first().key.job, JobId{12});
    EXPECT_TRUE(offers.empty());
}

TEST(Offers, ANodeThatGotMoreRoomIsOfferedAnewAndOthersGoOnWhereTheyWere) {
    Offers offers;
    offers.add({offer(10, 1, 1), offer(11, 1, 1), offer(12, 2, 1)});
    EXPECT_EQ(offers.take_first().key.job, JobId{10});
    offers.renew({offer(10, 1, 1), offer(13, 1, 1)});
    std::vector<std::uint32_t> jobs;
    while (!offers.empty()) jobs.push_back(offers.take_first().key.job.value);
    EXPECT_EQ(jobs, (std::vector<std::uint32_t>{10, 12, 13}));
}

}  // namespace
}  // namespace switchyard::core::sched
