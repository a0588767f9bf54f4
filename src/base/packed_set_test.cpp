#include "base/packed_set.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace switchyard {
namespace {

using Set = PackedSet<std::uint32_t>;

std::vector<std::uint32_t> values(const Set& set) { return {set.begin(), set.end()}; }

TEST(PackedSet, holds_values_in_order_and_once) {
    Set set;
    EXPECT_TRUE(set.empty());
    EXPECT_TRUE(set.insert(7).second);
    EXPECT_TRUE(set.insert(3).second);
    EXPECT_FALSE(set.insert(7).second);
    EXPECT_EQ(values(set), (std::vector<std::uint32_t>{3, 7}));
    EXPECT_EQ(set.erase(3), 1u);
    EXPECT_EQ(set.erase(3), 0u);
    EXPECT_EQ(set.size(), 1u);
}

TEST(PackedSet, fills_in_either_direction_and_empties_from_either_end) {
    for (const bool upwards : {true, false}) {
        Set set;
        for (std::uint32_t i = 0; i < 5000; ++i) set.insert(upwards ? i : 5000 - i);
        EXPECT_EQ(set.size(), 5000u);
        EXPECT_TRUE(std::ranges::is_sorted(values(set)));
        while (!set.empty()) {
            const std::uint32_t first = *set.begin();
            EXPECT_EQ(set.erase(first), 1u);
            if (!set.empty()) EXPECT_EQ(set.erase(*std::prev(set.end())), 1u);
        }
    }
}

// Held against a std::set, value by value.
TEST(PackedSet, agrees_with_a_std_set_under_random_changes) {
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random(seed);
        const std::uint32_t range = seed % 2 == 0 ? 300 : 20000;
        const std::uint32_t growth = 30 + 5 * (seed % 8);  // Percent of insertions.
        Set set;
        std::set<std::uint32_t> expected;
        for (int i = 0; i < 20000; ++i) {
            const std::uint32_t value = random() % range;
            if (random() % 100 < growth) {
                EXPECT_EQ(set.insert(value).second, expected.insert(value).second);
            } else {
                EXPECT_EQ(set.erase(value), expected.erase(value));
            }
            const std::uint32_t asked = random() % range;
            EXPECT_EQ(set.contains(asked), expected.contains(asked));
            const auto lower = set.lower_bound(asked);
            const auto upper = set.upper_bound(asked);
            const auto lower_expected = expected.lower_bound(asked);
            const auto upper_expected = expected.upper_bound(asked);
            ASSERT_EQ(lower == set.end(), lower_expected == expected.end());
            ASSERT_EQ(upper == set.end(), upper_expected == expected.end());
            if (lower != set.end()) ASSERT_EQ(*lower, *lower_expected);
            if (upper != set.end()) ASSERT_EQ(*upper, *upper_expected);
        }
        EXPECT_EQ(values(set), std::vector<std::uint32_t>(expected.begin(), expected.end()));
        EXPECT_EQ(set.size(), expected.size());
    }
}

TEST(PackedSet, walks_backwards) {
    Set set;
    for (std::uint32_t i = 0; i < 1000; ++i) set.insert(i * 2);
    std::uint32_t expected = 2000;
    for (auto at = set.end(); at != set.begin();) {
        --at;
        expected -= 2;
        EXPECT_EQ(*at, expected);
    }
    EXPECT_EQ(expected, 0u);
}

}  // namespace
}  // namespace switchyard
