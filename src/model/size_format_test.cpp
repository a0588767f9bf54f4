#include "model/size_format.hpp"

#include <gtest/gtest.h>

namespace switchyard::model {
namespace {

TEST(ParseMemory, reads_numbers_with_and_without_unit) {
    EXPECT_EQ(parse_memory("4000")->value, 4000u);
    EXPECT_EQ(parse_memory("4000M")->value, 4000u);
    EXPECT_EQ(parse_memory("4000mb")->value, 4000u);
    EXPECT_EQ(parse_memory("32G")->value, 32u * 1024);
    EXPECT_EQ(parse_memory("40GB")->value, 40u * 1024);
    EXPECT_EQ(parse_memory("40GiB")->value, 40u * 1024);
    EXPECT_EQ(parse_memory("1T")->value, 1024u * 1024);
    EXPECT_EQ(parse_memory("0")->value, 0u);
}

TEST(ParseMemory, rounds_kibibytes_up) {
    EXPECT_EQ(parse_memory("0K")->value, 0u);
    EXPECT_EQ(parse_memory("1K")->value, 1u);
    EXPECT_EQ(parse_memory("512K")->value, 1u);
    EXPECT_EQ(parse_memory("1024K")->value, 1u);
    EXPECT_EQ(parse_memory("1025k")->value, 2u);
}

TEST(ParseMemory, refuses_everything_else) {
    for (const char* bad : {"", "lots", "G", "-1", "+1", "1.5G", "1 G", " 1", "1GG", "1Gi", "1X",
                            "1B", "1bG", "18446744073709551616", "18446744073709551615",
                            "9999999999999T", "8192P", "48446744073709551kb", "1G "}) {
        EXPECT_FALSE(parse_memory(bad)) << bad;
    }
}

TEST(FormatMemory, takes_the_largest_unit_that_divides) {
    EXPECT_EQ(format_memory(MiB{0}), "0");
    EXPECT_EQ(format_memory(MiB{100}), "100M");
    EXPECT_EQ(format_memory(MiB{4000}), "4000M");
    EXPECT_EQ(format_memory(MiB{4096}), "4G");
    EXPECT_EQ(format_memory(MiB{1500}), "1500M");
    EXPECT_EQ(format_memory(MiB{1024 * 1024}), "1T");
    EXPECT_EQ(format_memory(MiB{1025 * 1024}), "1025G");
    EXPECT_EQ(format_memory(MiB{std::uint64_t{1} << 40}), "1024P");
}

TEST(FormatMemory, prints_what_parse_memory_reads) {
    for (std::uint64_t value = 1; value < (std::uint64_t{1} << 42); value = value * 3 + 1) {
        EXPECT_EQ(parse_memory(format_memory(MiB{value}))->value, value);
        EXPECT_EQ(parse_memory(format_memory(MiB{value & ~1023ull}))->value, value & ~1023ull);
    }
}

TEST(ParseCount, knows_binary_suffixes) {
    EXPECT_EQ(*parse_count("7"), 7u);
    EXPECT_EQ(*parse_count("4K"), 4096u);
    EXPECT_EQ(*parse_count("4k"), 4096u);
    EXPECT_EQ(*parse_count("2m"), 2u << 20);
    EXPECT_EQ(*parse_count("1G"), 1u << 30);
    for (const char* bad : {"", "K", "-1", "1KB", "1.5k", "4 K", "zero", "99999999999999999999",
                            "9223372036854775808", "9007199254740992K"}) {
        EXPECT_FALSE(parse_count(bad)) << bad;
    }
}

}  // namespace
}  // namespace switchyard::model
