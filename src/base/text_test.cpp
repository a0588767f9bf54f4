#include "base/text.hpp"

#include <gtest/gtest.h>

namespace switchyard {
namespace {

using Views = std::vector<std::string_view>;

TEST(Split, keeps_empty_pieces_but_an_empty_text_has_none) {
    EXPECT_EQ(split("", ','), Views{});
    EXPECT_EQ(split("a", ','), Views{"a"});
    EXPECT_EQ(split("a,,b", ','), (Views{"a", "", "b"}));
    EXPECT_EQ(split(",", ','), (Views{"", ""}));
    EXPECT_EQ(split("a,", ','), (Views{"a", ""}));
    EXPECT_EQ(split(",a", ','), (Views{"", "a"}));
}

TEST(Trim, takes_blanks_off_both_ends_only) {
    EXPECT_EQ(trim(""), "");
    EXPECT_EQ(trim(" \t\r\n"), "");
    EXPECT_EQ(trim("  a b\n"), "a b");
}

TEST(Case, is_ignored_for_ascii_letters_only) {
    EXPECT_EQ(to_lower("AbC-\xc4"), "abc-\xc4");
    EXPECT_TRUE(equals_ignoring_case("INFINITE", "infinite"));
    EXPECT_FALSE(equals_ignoring_case("INFINITE", "infinit"));
    EXPECT_FALSE(equals_ignoring_case("[", "{"));
    EXPECT_TRUE(starts_with_ignoring_case("SigTerm", "SIG"));
    EXPECT_FALSE(starts_with_ignoring_case("SI", "SIG"));
}

TEST(Join, is_the_reverse_of_split) {
    EXPECT_EQ(join({}, ","), "");
    EXPECT_EQ(join({"a"}, ","), "a");
    EXPECT_EQ(join({"", "", "b"}, ","), ",,b");
    EXPECT_EQ(join({"a", "b"}, ", "), "a, b");
}

TEST(ParseNumber, takes_a_whole_number_and_nothing_else) {
    EXPECT_EQ(parse_uint("0"), 0u);
    EXPECT_EQ(parse_uint("18446744073709551615"), UINT64_MAX);
    for (const char* bad :
         {"", " 1", "1 ", "+1", "-1", "1x", "0x1", "18446744073709551616", "1.0"}) {
        EXPECT_EQ(parse_uint(bad), std::nullopt) << bad;
    }
    EXPECT_EQ(parse_int("-9223372036854775808"), INT64_MIN);
    EXPECT_EQ(parse_int("9223372036854775808"), std::nullopt);
    EXPECT_EQ(parse_int("-"), std::nullopt);
}

}  // namespace
}  // namespace switchyard
