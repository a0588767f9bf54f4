#include "model/index_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace switchyard::model {
namespace {

IndexSet of(std::string_view text) { return *parse_index_set(text); }

TEST(IndexSet, starts_empty) {
    const IndexSet set;
    EXPECT_TRUE(set.empty());
    EXPECT_EQ(set.size(), 0u);
    EXPECT_FALSE(set.contains(0));
    EXPECT_EQ(to_string(set), "");
    EXPECT_TRUE(set.first(3).empty());
}

TEST(IndexSet, joins_neighbours_and_splits_at_holes) {
    IndexSet set;
    for (const std::uint32_t i : {3u, 1u, 2u}) set.insert(i);
    EXPECT_EQ(to_string(set), "1-3");
    set.insert(5);
    EXPECT_EQ(to_string(set), "1-3,5");
    set.insert(4);
    EXPECT_EQ(to_string(set), "1-5");
    set.erase(3);
    EXPECT_EQ(to_string(set), "1-2,4-5");
    set.erase(9);
    set.erase(1);
    EXPECT_EQ(to_string(set), "2,4-5");
    EXPECT_EQ(set.front(), 2u);
    EXPECT_EQ(set.back(), 5u);
}

TEST(IndexSet, an_interval_swallows_all_that_it_covers_or_touches) {
    IndexSet set = of("1,3,5,7,20");
    set.insert(IndexSet::Interval{2, 6});
    EXPECT_EQ(to_string(set), "1-7,20");
    set.erase(IndexSet::Interval{3, 25});
    EXPECT_EQ(to_string(set), "1-2");
    set.erase(IndexSet::Interval{0, 9});
    EXPECT_TRUE(set.empty());
}

TEST(IndexSet, works_at_both_ends_of_its_numbers) {
    IndexSet set = IndexSet::range(0, UINT32_MAX);
    EXPECT_EQ(set.size(), std::uint64_t{1} << 32);
    set.erase(UINT32_MAX);
    set.erase(0u);
    EXPECT_EQ(to_string(set), "1-4294967294");
    set.insert(UINT32_MAX);
    set.insert(0u);
    EXPECT_EQ(set, IndexSet::range(0, UINT32_MAX));
    EXPECT_EQ(set.first(2), IndexSet::range(0, 1));
    EXPECT_EQ(IndexSet::range(UINT32_MAX, UINT32_MAX).to_vector(), std::vector{UINT32_MAX});
}

TEST(IndexSet, unites_subtracts_and_intersects) {
    const IndexSet a = of("0-9,20-29,40");
    const IndexSet b = of("5-24,40-41");
    IndexSet sum = a;
    sum.insert(b);
    EXPECT_EQ(to_string(sum), "0-29,40-41");
    IndexSet rest = a;
    rest.erase(b);
    EXPECT_EQ(to_string(rest), "0-4,25-29");
    EXPECT_EQ(to_string(a.intersection(b)), "5-9,20-24,40");
    EXPECT_TRUE(a.intersects(b));
    EXPECT_FALSE(rest.intersects(b));
    IndexSet itself = a;
    itself.insert(itself);
    EXPECT_EQ(itself, a);
    itself.erase(itself);
    EXPECT_TRUE(itself.empty());
}

TEST(IndexSet, the_first_few_are_the_smallest) {
    const IndexSet set = of("2-4,8,10-11");
    EXPECT_EQ(to_string(set.first(0)), "");
    EXPECT_EQ(to_string(set.first(2)), "2-3");
    EXPECT_EQ(to_string(set.first(4)), "2-4,8");
    EXPECT_EQ(set.first(100), set);
}

TEST(IndexSet, is_made_of_intervals_in_any_order) {
    EXPECT_EQ(to_string(IndexSet::from_intervals({{8, 9}, {0, 3}, {2, 5}, {6, 6}})), "0-6,8-9");
    EXPECT_TRUE(IndexSet::from_intervals({}).empty());
}

TEST(IndexSetDeathTest, an_empty_set_has_no_smallest) {
    EXPECT_DEATH((void)IndexSet{}.front(), "assertion failed");
    EXPECT_DEATH((void)IndexSet::range(2, 1), "assertion failed");
}

TEST(ParseIndexSet, reads_members_ranges_and_steps) {
    EXPECT_EQ(to_string(of("")), "");
    EXPECT_EQ(to_string(of("7")), "7");
    EXPECT_EQ(to_string(of("0-3,7")), "0-3,7");
    EXPECT_EQ(to_string(of("7,0-3,2-5")), "0-5,7");
    EXPECT_EQ(to_string(of("0-8:2")), "0,2,4,6,8");
    EXPECT_EQ(to_string(of("0-9:4")), "0,4,8");
    EXPECT_EQ(to_string(of("4294967295")), "4294967295");
    EXPECT_EQ(to_string(of("4294967290-4294967295:5")), "4294967290,4294967295");
}

TEST(ParseIndexSet, refuses_what_is_malformed_or_too_much) {
    for (const char* bad :
         {",", "1,", ",1", "1-", "-1", "3-1", "1--2", "a", "1-b", "1:2", "1-5:0", "1-5:", "1-5:x",
          "1 ", "4294967296", "0-4294967295:2", "0x1", "1-2-3"}) {
        EXPECT_FALSE(parse_index_set(bad)) << bad;
    }
    std::string many;
    for (int i = 0; i < 20; ++i) many += "0-1000000:2,";
    EXPECT_FALSE(parse_index_set(many + "1"));
}

TEST(IndexSet, a_million_elements_in_one_interval_cost_nothing_to_take_apart) {
    IndexSet set = IndexSet::range(0, 999'999);
    for (std::uint32_t i = 0; i < 1'000'000; ++i) set.erase(set.front());
    EXPECT_TRUE(set.empty());
}

// Goal: every operation agrees with std::set, whatever came before. Method: random operations on
// numbers close enough together that intervals meet and split all the time.
class Model {
  public:
    explicit Model(std::uint32_t seed) : random_(seed) {}

    void change() {
        const std::uint32_t a = pick();
        const std::uint32_t b = std::min(a + pick() % 9, kMax);
        switch (random_() % 6) {
            case 0:
                set.insert(a), plain.insert(a);
                break;
            case 1:
                set.erase(a), plain.erase(a);
                break;
            case 2:
                set.insert(IndexSet::Interval{a, b});
                for (std::uint32_t i = a; i <= b; ++i) plain.insert(i);
                break;
            case 3:
                set.erase(IndexSet::Interval{a, b});
                for (std::uint32_t i = a; i <= b; ++i) plain.erase(i);
                break;
            case 4: {
                const auto [other, members] = another();
                set.insert(other), plain.insert(members.begin(), members.end());
                break;
            }
            default: {
                const auto [other, members] = another();
                set.erase(other);
                for (const std::uint32_t i : members) plain.erase(i);
            }
        }
    }

    std::pair<IndexSet, std::set<std::uint32_t>> another() {
        IndexSet other;
        std::set<std::uint32_t> members;
        for (std::uint32_t n = random_() % 20; n > 0; --n) {
            const std::uint32_t member = pick();
            other.insert(member), members.insert(member);
        }
        return {other, members};
    }

    std::uint32_t pick() { return static_cast<std::uint32_t>(random_() % (kMax + 1)); }

    static constexpr std::uint32_t kMax = 120;
    IndexSet set;
    std::set<std::uint32_t> plain;

  private:
    std::mt19937 random_;
};

TEST(IndexSet, agrees_with_a_plain_set_seeded) {
    for (std::uint32_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        Model model(seed);
        for (int n = 0; n < 100; ++n) {
            model.change();
            const std::vector<std::uint32_t> expected(model.plain.begin(), model.plain.end());
            ASSERT_EQ(model.set.to_vector(), expected);
            ASSERT_EQ(model.set.size(), expected.size());
            const auto& intervals = model.set.intervals();
            for (std::size_t i = 1; i < intervals.size(); ++i) {
                ASSERT_GT(intervals[i].first, intervals[i - 1].last + 1);
            }
            const std::uint32_t probe = model.pick();
            ASSERT_EQ(model.set.contains(probe), model.plain.contains(probe));
            const auto [other, members] = model.another();
            std::vector<std::uint32_t> common;
            std::ranges::set_intersection(model.plain, members, std::back_inserter(common));
            ASSERT_EQ(model.set.intersection(other).to_vector(), common);
            ASSERT_EQ(model.set.intersects(other), !common.empty());
            ASSERT_EQ(of(to_string(model.set)), model.set);
        }
    }
}

}  // namespace
}  // namespace switchyard::model
