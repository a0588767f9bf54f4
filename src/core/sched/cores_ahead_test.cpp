// cores_ahead_test.cpp: what is told to be out of reach is.

#include "core/sched/cores_ahead.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace switchyard::core::sched {
namespace {

constexpr Instant kBegin{Seconds{1'000'000}};

// Holders of random sizes that leave at random times.
NodeEntry random_node(std::mt19937& random) {
    NodeEntry node;
    node.cores = 1 + random() % 70;
    std::uint32_t left = node.cores;
    for (std::uint32_t holder = random() % 8; holder > 0; --holder) {
        Holding holding;
        holding.until = kBegin + Seconds{random() % 50};
        holding.room.cores = static_cast<std::uint32_t>(random() % (left + 1));
        left -= holding.room.cores;
        node.holdings.push_back(holding);
    }
    std::ranges::sort(node.holdings, {}, &Holding::until);
    node.free.cores = left;
    for (const Holding& holding : node.holdings)
        node.cores_free_from.emplace_back(holding.until, left += holding.room.cores);
    return node;
}

}  // namespace

TEST(CoresAhead, NeverHidesCoresThatAreFree) {
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const NodeEntry node = random_node(random);
        const CoresAhead ahead(node);
        for (std::int64_t second = -1; second <= 51; ++second) {
            const Instant at = kBegin + Seconds{second};
            const std::uint32_t free = node.cores_at(at);
            for (std::uint32_t wanted = 0; wanted <= free; ++wanted)
                ASSERT_TRUE(ahead.may_have(wanted, at));
            EXPECT_TRUE(ahead.may_have(node.cores, at) == (free == node.cores));
            EXPECT_FALSE(ahead.may_have(node.cores + 1, at));
            // It is no more than a fifth off.
            EXPECT_FALSE(ahead.may_have(free + (node.cores + 4) / 5 + 1, at));
            const auto stays = [&](const Holding& holding) { return holding.until > at; };
            EXPECT_TRUE((ahead.all_left <= at) == std::ranges::none_of(node.holdings, stays));
        }
    }
}

TEST(CoresAhead, ExpectsNothingOfANodeThatIsNotKnown) {
    const CoresAhead ahead;
    EXPECT_FALSE(ahead.may_have(1, Instant::max() - Seconds{1}));
    EXPECT_TRUE(ahead.all_left == Instant::max());
}

}  // namespace switchyard::core::sched
