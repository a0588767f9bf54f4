#include "cli/format/sorted_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace switchyard::cli::format {
namespace {

using testing::ElementsAre;

void add(SortedLines& lines, std::string_view key, std::string_view text) {
    lines.add(key, [&](std::string& out) { out += text; });
}

std::vector<std::string> take(SortedLines& lines) {
    std::vector<std::string> taken;
    lines.take([&](std::string_view line) { taken.emplace_back(line); });
    return taken;
}

TEST(SortedLines, ComeOutByKeyAndThenByText) {
    SortedLines lines;
    add(lines, "b", "1\n");
    add(lines, "a", "3\n");
    add(lines, "a", "2\n");
    EXPECT_THAT(take(lines), ElementsAre("2\n", "3\n", "1\n"));
    EXPECT_THAT(take(lines), ElementsAre());
}

TEST(SortedLines, AKeyIsNotContinuedByItsText) {
    SortedLines lines;
    add(lines, "ab", "a");
    add(lines, "a", "z");
    EXPECT_THAT(take(lines), ElementsAre("z", "a"));
}

TEST(SortedLines, ManyLinesAndLongOnesAreAllKept) {
    SortedLines lines;
    const std::string long_line(1u << 20, 'x');
    constexpr int kLines = 20'000;
    for (int i = kLines; i > 0; --i) {
        const std::string number = std::to_string(100'000 + i);
        add(lines, number, i == 700 ? long_line : "line " + number);
    }
    const std::vector<std::string> taken = take(lines);
    ASSERT_EQ(taken.size(), static_cast<std::size_t>(kLines));
    EXPECT_EQ(taken[0], "line 100001");
    EXPECT_EQ(taken[699], long_line);
    EXPECT_EQ(taken[kLines - 1], "line 120000");
}

}  // namespace
}  // namespace switchyard::cli::format
