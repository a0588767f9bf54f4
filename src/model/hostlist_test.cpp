#include "model/hostlist.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/limits.hpp"
#include "base/text.hpp"

namespace switchyard::model {
namespace {

using Names = std::vector<std::string>;

std::string expanded(std::string_view expression) {
    const auto names = expand_hostlist(expression);
    return names ? join(*names, " ") : "error: " + names.error().message;
}

TEST(ExpandHostlist, reads_what_scontrol_show_hostnames_reads) {
    EXPECT_EQ(expanded("n[1-4],gpu[01-03,7],x"), "n1 n2 n3 n4 gpu01 gpu02 gpu03 gpu7 x");
    EXPECT_EQ(expanded("n1"), "n1");
    EXPECT_EQ(expanded("a,b , c"), "a b c");
    EXPECT_EQ(expanded("p[001-003,7],q1"), "p001 p002 p003 p7 q1");
}

TEST(ExpandHostlist, keeps_width_order_and_duplicates) {
    EXPECT_EQ(expanded("n[08-11]"), "n08 n09 n10 n11");
    EXPECT_EQ(expanded("n[98-101]"), "n98 n99 n100 n101");
    EXPECT_EQ(expanded("n[3,1-2,1]"), "n3 n1 n2 n1");
    EXPECT_EQ(expanded("n[0-1]"), "n0 n1");
    EXPECT_EQ(expanded("n[000-001]"), "n000 n001");
}

TEST(ExpandHostlist, multiplies_groups_and_takes_text_behind_them) {
    EXPECT_EQ(expanded("r[1-2]n[1-2]"), "r1n1 r1n2 r2n1 r2n2");
    EXPECT_EQ(expanded("n[1-2]-ib"), "n1-ib n2-ib");
    EXPECT_EQ(expanded("[1-2]"), "1 2");
    EXPECT_EQ(expanded("a[1][2]b"), "a12b");
}

TEST(ExpandHostlist, of_nothing_is_nothing) {
    EXPECT_EQ(expanded(""), "");
    EXPECT_EQ(expanded(" , ,"), "");
}

TEST(ExpandHostlist, refuses_malformed_expressions) {
    for (const char* bad : {"n[1-3",
                            "n1-3]",
                            "n[",
                            "n]",
                            "n[]",
                            "n[1,]",
                            "n[,1]",
                            "n[-1]",
                            "n[1-]",
                            "n[3-1]",
                            "n[a]",
                            "n[1-b]",
                            "n[[1]]",
                            "n[1[2]]",
                            "n[1-2-3]",
                            "n[ 1]",
                            "n[1 - 2]",
                            "n[1:2]",
                            "n[1234567890123456789]",
                            "a,n[1"}) {
        const auto names = expand_hostlist(bad);
        ASSERT_FALSE(names) << bad;
        EXPECT_EQ(names.error().code, Errc::InvalidNodeName);
        EXPECT_EQ(names.error().message, std::string("Invalid hostlist: ") + bad);
    }
}

TEST(ExpandHostlist, refuses_to_make_more_names_than_the_limit) {
    for (const char* bad : {"n[0-999999999999999999]", "n[1-1048577]", "n[0-1023]m[0-1023]x[0-1]",
                            "n[1-1048576],m", "n[1-600000],n[1-600000]", "n[1-600000,1-600000]"}) {
        EXPECT_FALSE(expand_hostlist(bad)) << bad;
    }
    std::string deep;
    for (int i = 0; i < 100'000; ++i) deep += "[1]";
    EXPECT_FALSE(expand_hostlist(deep));
    const auto most = expand_hostlist("n[1-1048576]");
    ASSERT_TRUE(most);
    EXPECT_EQ(most->size(), limits::kHostlistNamesMax);
    EXPECT_EQ(compress_hostlist(*most), "n[1-1048576]");
}

TEST(CompressHostlist, folds_neighbours_of_one_prefix) {
    EXPECT_EQ(compress_hostlist({}), "");
    EXPECT_EQ(compress_hostlist({"n1"}), "n1");
    EXPECT_EQ(compress_hostlist({"n1", "n2", "n3", "n5"}), "n[1-3,5]");
    EXPECT_EQ(compress_hostlist({"login", "n1", "n2", "x"}), "login,n[1-2],x");
    EXPECT_EQ(compress_hostlist({"n1", "m1", "n2"}), "n1,m1,n2");
    EXPECT_EQ(compress_hostlist({"r1n1", "r1n2", "r2n1"}), "r1n[1-2],r2n1");
    EXPECT_EQ(compress_hostlist({"n1-ib", "n2-ib"}), "n1-ib,n2-ib");
    EXPECT_EQ(compress_hostlist({"1", "2"}), "[1-2]");
}

TEST(CompressHostlist, keeps_order_duplicates_and_width) {
    EXPECT_EQ(compress_hostlist({"n3", "n1", "n2"}), "n[3,1-2]");
    EXPECT_EQ(compress_hostlist({"n1", "n1"}), "n[1,1]");
    EXPECT_EQ(compress_hostlist({"n08", "n09", "n10", "n11"}), "n[08-11]");
    EXPECT_EQ(compress_hostlist({"n9", "n10"}), "n[9-10]");
    EXPECT_EQ(compress_hostlist({"n09", "n010"}), "n[09,010]");
    EXPECT_EQ(compress_hostlist({"n1", "n02"}), "n[1,02]");
    EXPECT_EQ(compress_hostlist({"gpu01", "gpu02", "gpu03", "gpu7"}), "gpu[01-03,7]");
}

TEST(CompressHostlist, takes_numbers_too_long_to_count_as_text) {
    const Names names{"n1234567890123456789012345", "n1234567890123456789012346"};
    EXPECT_EQ(*expand_hostlist(compress_hostlist(names)), names);
}

TEST(SortHostnames, puts_2_before_10_and_drops_duplicates) {
    EXPECT_EQ(sort_hostnames({"n10", "n2", "n1", "n2"}), (Names{"n1", "n2", "n10"}));
    EXPECT_EQ(compress_hostlist(sort_hostnames({"n3", "n1", "n2"})), "n[1-3]");
    EXPECT_EQ(sort_hostnames({"b1", "a2", "a", "a10"}), (Names{"a", "a2", "a10", "b1"}));
    EXPECT_EQ(sort_hostnames({"r2n1", "r1n10", "r1n9"}), (Names{"r1n9", "r1n10", "r2n1"}));
}

TEST(HostnameLess, is_a_total_order_even_with_leading_zeros) {
    const Names names{"",
                      "n",
                      "n0",
                      "n00",
                      "n01",
                      "n1",
                      "n001",
                      "n10",
                      "n010",
                      "n1a",
                      "n01a",
                      "a1b2",
                      "a01b2",
                      "a1b02",
                      "n18446744073709551616",
                      "n18446744073709551617"};
    for (const auto& a : names) {
        EXPECT_FALSE(hostname_less(a, a));
        for (const auto& b : names) {
            if (a != b) {
                EXPECT_NE(hostname_less(a, b), hostname_less(b, a)) << a << " " << b;
            }
            for (const auto& c : names) {
                if (hostname_less(a, b) && hostname_less(b, c)) {
                    EXPECT_TRUE(hostname_less(a, c)) << a << " " << b << " " << c;
                }
            }
        }
    }
}

// Goal: expand(compress(names)) is names, for any names. Method: names that are likely to fold
// wrongly: few prefixes, small numbers, zeros in front.
TEST(Hostlist, folding_and_expanding_are_inverse_seeded) {
    const Names prefixes{"n", "gpu", "r1n", "", "x-", "n0"};
    for (std::uint32_t seed = 0; seed < 500; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        Names names;
        std::uint32_t number = 0;
        std::size_t width = 1;
        std::string prefix = "n";
        for (std::uint32_t left = random() % 40; left > 0; --left) {
            if (random() % 5 == 0) prefix = prefixes[random() % prefixes.size()];
            if (random() % 5 == 0) number = static_cast<std::uint32_t>(random() % 120);
            if (random() % 5 == 0) width = 1 + random() % 4;
            std::string digits = std::to_string(number++);
            if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
            names.push_back(random() % 20 == 0 ? "login" : prefix + digits);
        }
        const std::string folded = compress_hostlist(names);
        const auto again = expand_hostlist(folded);
        ASSERT_TRUE(again) << folded;
        ASSERT_EQ(*again, names) << folded;
    }
}

// Goal: no text crashes or hangs the reader. Method: random texts of the characters that mean
// something.
TEST(Hostlist, survives_any_text_seeded) {
    constexpr std::string_view kCharacters = "n0129[]-,, x";
    for (std::uint32_t seed = 0; seed < 5'000; ++seed) {
        std::mt19937 random(seed);
        std::string text;
        for (std::uint32_t left = random() % 24; left > 0; --left) {
            text += kCharacters[random() % kCharacters.size()];
        }
        const auto names = expand_hostlist(text);
        if (!names || names->size() > 1000) continue;
        ASSERT_EQ(*expand_hostlist(compress_hostlist(*names)), *names) << seed << ": " << text;
    }
}

}  // namespace
}  // namespace switchyard::model
