// Goal: amounts in the form of Slurm's views, to the character. Method: numbers in, text out.
#include "view/amount_text.hpp"

#include <gtest/gtest.h>

namespace switchyard::view {
namespace {

TEST(AmountText, TakesTheLargestUnitThatHoldsItInWholeHalves) {
    EXPECT_EQ(short_amount(100, "MGTP"), "100M");
    EXPECT_EQ(short_amount(512, "MGTP"), "512M");
    EXPECT_EQ(short_amount(1500, "MGTP"), "1500M");
    EXPECT_EQ(short_amount(1536, "MGTP"), "1.50G");
    EXPECT_EQ(short_amount(2048, "MGTP"), "2G");
    EXPECT_EQ(short_amount(15872, "MGTP"), "15.50G");
    EXPECT_EQ(short_amount(16000, "MGTP"), "16000M");
    EXPECT_EQ(short_amount(64000, "MGTP"), "62.50G");
    EXPECT_EQ(short_amount(1536 * 1024, "MGTP"), "1.50T");
    EXPECT_EQ(short_amount(1536, std::string_view("\0K", 2)), "1.50K");
    EXPECT_EQ(short_amount(7, std::string_view("\0K", 2)), "7");
}

TEST(AmountText, OnlyTheMemoryOfAListIsShortened) {
    EXPECT_EQ(shown_tres("cpu=4096,mem=1536M,node=1,billing=4096"),
              "cpu=4096,mem=1.50G,node=1,billing=4096");
    EXPECT_EQ(shown_tres("cpu=1,mem=2G"), "cpu=1,mem=2G");
    EXPECT_EQ(shown_tres(""), "");
}

}  // namespace
}  // namespace switchyard::view
