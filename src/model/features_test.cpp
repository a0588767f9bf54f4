#include "model/features.hpp"

#include <gtest/gtest.h>

#include <random>

namespace switchyard::model {
namespace {

using Features = std::vector<std::string>;

bool matches(std::string_view expression, const Features& features) {
    return Constraint::parse(expression)->matches(features);
}

TEST(Constraint, an_empty_one_matches_every_node) {
    EXPECT_TRUE(matches("", {}));
    EXPECT_TRUE(matches("  ", {"intel"}));
    EXPECT_TRUE(Constraint::parse("")->empty());
    EXPECT_TRUE(Constraint{}.matches({}));
}

TEST(Constraint, and_binds_tighter_than_or) {
    EXPECT_TRUE(matches("intel", {"gpu", "intel"}));
    EXPECT_FALSE(matches("intel", {"Intel"}));
    EXPECT_FALSE(matches("intel&gpu", {"intel"}));
    EXPECT_TRUE(matches("intel&gpu", {"intel", "gpu"}));
    EXPECT_TRUE(matches("intel,gpu", {"intel", "gpu"}));
    EXPECT_TRUE(matches("intel|amd", {"amd"}));
    EXPECT_TRUE(matches("a&b|c", {"c"}));
    EXPECT_TRUE(matches("c|a&b", {"a", "b"}));
    EXPECT_FALSE(matches("c|a&b", {"a"}));
    EXPECT_TRUE(matches(" a & b ", {"a", "b"}));
}

TEST(Constraint, parentheses_group) {
    EXPECT_TRUE(matches("(a&b)|c", {"c"}));
    EXPECT_FALSE(matches("a&(b|c)", {"b", "c"}));
    EXPECT_TRUE(matches("a&(b|c)", {"a", "c"}));
    EXPECT_TRUE(matches("((a))", {"a"}));
    EXPECT_TRUE(matches("(a|b)&(c|d)", {"b", "d"}));
    EXPECT_FALSE(matches("(a|b)&(c|d)", {"a", "b"}));
}

TEST(Constraint, brackets_ask_for_one_alternative_on_all_nodes) {
    const auto racks = Constraint::parse("[rack1|rack2]");
    ASSERT_TRUE(racks);
    EXPECT_TRUE(racks->same_for_all_nodes());
    EXPECT_EQ(racks->alternatives(), (std::vector<Features>{{"rack1"}, {"rack2"}}));
    EXPECT_TRUE(racks->matches({"rack2"}));
    EXPECT_FALSE(Constraint::parse("rack1|rack2")->same_for_all_nodes());
    EXPECT_FALSE(Constraint::parse("[rack1]")->same_for_all_nodes());
    EXPECT_TRUE(Constraint::parse("gpu&[rack1|rack2]")->same_for_all_nodes());
}

TEST(Constraint, tells_its_names_once_each) {
    EXPECT_EQ(Constraint::parse("b&(a|b)&[c|a]")->names(), (Features{"a", "b", "c"}));
    EXPECT_TRUE(Constraint{}.names().empty());
}

TEST(Constraint, refuses_malformed_expressions) {
    for (const char* bad : {"&", "a&", "&a", "a||b", "a&&b", "|", "(", "()", "(a", "a)", "[a", "a]",
                            "[]", "a b", "a(b)", "(a]", "[a|b]&[c|d]", "a|", ","}) {
        const auto parsed = Constraint::parse(bad);
        ASSERT_FALSE(parsed) << bad;
        EXPECT_EQ(parsed.error().message, "Invalid feature specification") << bad;
    }
}

TEST(Constraint, says_that_node_counts_are_not_supported) {
    for (const char* counted : {"a*2", "[rack1*2&rack2*4]", "(a|b)*3"}) {
        const auto parsed = Constraint::parse(counted);
        ASSERT_FALSE(parsed) << counted;
        EXPECT_EQ(parsed.error().code, Errc::Unsupported);
    }
}

TEST(Constraint, refuses_what_would_multiply_without_end) {
    std::string product = "(a|b)";
    for (int i = 0; i < 40; ++i) product += "&(a|b)";
    EXPECT_FALSE(Constraint::parse(product));
    EXPECT_FALSE(Constraint::parse(std::string(100'000, '(')));
    EXPECT_FALSE(Constraint::parse(std::string(100, '(') + "a" + std::string(100, ')')));
}

TEST(Constraint, survives_any_text_seeded) {
    constexpr std::string_view kCharacters = "ab&|,()[]* ";
    for (std::uint32_t seed = 0; seed < 20'000; ++seed) {
        std::mt19937 random(seed);
        std::string text;
        for (std::uint32_t left = random() % 24; left > 0; --left) {
            text += kCharacters[random() % kCharacters.size()];
        }
        const auto parsed = Constraint::parse(text);
        // With every feature it names a node always matches.
        if (parsed) {
            ASSERT_TRUE(parsed->matches(parsed->names())) << text;
        }
    }
}

}  // namespace
}  // namespace switchyard::model
