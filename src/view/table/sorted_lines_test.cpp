#include "view/table/sorted_lines.hpp"

#include <gtest/gtest.h>

namespace switchyard::view {
namespace {

void add(SortedLines& lines, std::string_view key, std::string_view text) {
    lines.add([&](OrderKey& order) { order.add_text(key, false); },
              [&](std::string& out) { out += text; });
}

std::vector<std::string> take_pieces(SortedLines& lines) {
    std::vector<std::string> taken;
    lines.take([&](std::string_view piece) { taken.emplace_back(piece); });
    return taken;
}

std::string take(SortedLines& lines) {
    std::string taken;
    for (const std::string& piece : take_pieces(lines)) taken += piece;
    return taken;
}

TEST(SortedLines, ComeOutByKeyAndThenByText) {
    SortedLines lines;
    add(lines, "b", "1\n");
    add(lines, "a", "3\n");
    add(lines, "a", "2\n");
    EXPECT_EQ(lines.count(), 3u);
    EXPECT_EQ(take(lines), "2\n3\n1\n");
    EXPECT_EQ(lines.count(), 0u);
    EXPECT_EQ(take(lines), "");
}

TEST(SortedLines, AKeyIsNotContinuedByItsText) {
    SortedLines lines;
    add(lines, "ab", "a");
    add(lines, "a", "z");
    EXPECT_EQ(take(lines), "za");
}

TEST(SortedLines, EqualKeysAreOrderedByTextHoweverTheyCame) {
    SortedLines lines;
    add(lines, "a", "1");
    add(lines, "a", "2");
    add(lines, "a", "");
    EXPECT_EQ(take(lines), "12");
    add(lines, "a", "2");
    add(lines, "a", "1");
    EXPECT_EQ(take(lines), "12");
}

TEST(SortedLines, WhatComesInOrderIsPrintedAsItStands) {
    SortedLines lines;
    for (int i = 100; i < 200; ++i) add(lines, std::to_string(i), std::to_string(i) + " ");
    const std::vector<std::string> pieces = take_pieces(lines);
    ASSERT_EQ(pieces.size(), 1u);
    EXPECT_TRUE(pieces[0].starts_with("100 101 ") && pieces[0].ends_with("198 199 "));
}

TEST(SortedLines, TheLastOneMayBeTheFirst) {
    SortedLines lines;
    for (int i = 100; i < 200; ++i) add(lines, std::to_string(i), std::to_string(i) + " ");
    add(lines, "000", "0 ");
    EXPECT_TRUE(take(lines).starts_with("0 100 101 "));
    // And what is taken is forgotten: the next list has an order of its own.
    add(lines, "7", "7");
    EXPECT_EQ(take(lines), "7");
}

// Over several pieces of memory, one of which grows.
TEST(SortedLines, ManyLinesAndLongOnesAreAllKept) {
    const std::string long_line(1u << 20, 'x');
    constexpr int kLines = 20'000;
    const auto text = [&](int i) {
        return i == 700 ? long_line : "line " + std::to_string(100'000 + i) + ";";
    };
    std::string whole;
    for (int i = 1; i <= kLines; ++i) whole += text(i);
    SortedLines lines;
    for (int i = kLines; i > 0; --i) add(lines, std::to_string(100'000 + i), text(i));
    EXPECT_TRUE(take(lines) == whole) << "that came backwards";
    for (int i = 1; i <= kLines; ++i) add(lines, std::to_string(100'000 + i), text(i));
    EXPECT_TRUE(take(lines) == whole) << "that came in order";
}

}  // namespace
}  // namespace switchyard::view
