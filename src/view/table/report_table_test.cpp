// report_table_test.cpp: columns of a width or with bars between, from a small table.
#include <gtest/gtest.h>

#include "view/table/report_table.hpp"

namespace switchyard::view {
namespace {

struct Pair {
    std::string name, value;
};
const ReportField<Pair> kFields[] = {
    {"Name", -6, Wide::Mark, [](const Pair& p) { return p.name; }},
    {"NameRaw", 6, Wide::Cut, [](const Pair& p) { return p.name; }},
    {"Value", 5, Wide::Whole, [](const Pair& p) { return p.value; }},
};

std::string line(std::string_view format, const Pair& row, const ReportStyle& style = {}) {
    const auto table =
        ReportTable<Pair>::make(std::span<const ReportField<Pair>>(kFields), format, style);
    return table ? table->line(row) : "no field " + table.error().message;
}

TEST(ReportTable, CutsTextWithAPlusTimesWithoutAndNumbersNever) {
    EXPECT_EQ(line("name,nameraw,value", {"abcdefgh", "1234567"}), "abcde+ abcdef 1234567 \n");
    EXPECT_EQ(line("NAME%3,value%-4", {"abcdefgh", "12"}), "ab+ 12   \n");
}

TEST(ReportTable, ANameMayBeCutShortButTheWholeOneComesFirst) {
    EXPECT_EQ(line("val", {"a", "7"}), "    7 \n");
    EXPECT_EQ(line("nameraw%3", {"ab", ""}), " ab \n");
    EXPECT_EQ(line("nosuch", {}), "no field nosuch");
}

TEST(ReportTable, BarsStandBetweenFieldsOrBehindThemToo) {
    const Pair row{"ab", "7"};
    EXPECT_EQ(line("name,value", row, {.parsable = true, .delimiter = "|"}), "ab|7\n");
    EXPECT_EQ(line("name,value", row, {.parsable = true, .ending = true, .delimiter = ";"}),
              "ab;7;\n");
}

TEST(ReportTable, ARowIsOneLineOfAsManyFieldsWhateverItsTextsHold) {
    const Pair row{"a|b\nc;\x1b", "7"};
    EXPECT_EQ(line("name,value", row, {.parsable = true, .delimiter = "|"}),
              "a\\174b\\012c;\\033|7\n");
    EXPECT_EQ(line("name,value", row, {.parsable = true, .delimiter = ";"}),
              "a|b\\012c\\073\\033;7\n");
    // What lists are written with cannot be kept out of them.
    EXPECT_EQ(line("name,value", {"n[1,3]", "7"}, {.parsable = true, .delimiter = ","}),
              "n[1,3],7\n");
    EXPECT_EQ(line("name%20,value%-3", {"a\nb", "7"}, {}), "              a\\012b 7   \n");
}

TEST(ReportTable, WideCharactersTakeTheirCellsAndAreNotCutInHalf) {
    EXPECT_EQ(line("name", {"训练", ""}), "训练   \n");
    EXPECT_EQ(line("name,nameraw", {"训练任务", ""}), "训练+  训练任 \n");
    EXPECT_EQ(line("nameraw%5", {"训练任务", ""}), " 训练 \n");
}

TEST(ReportTable, HelpIsPaddedToTheEndOfEveryLine) {
    EXPECT_EQ(helpformat({"A", "BC", "D"}, {.count = 2, .width = 3}), "A   BC \nD  \n");
}

TEST(ReportTable, AFieldThatIsNotListedIsKnownByNameOnly) {
    const ReportField<Pair> fields[] = {
        {"Name", -3, Wide::Mark, [](const Pair& p) { return p.name; }},
        {"Old", 3, Wide::Mark, [](const Pair& p) { return p.value; }, false},
    };
    const std::span<const ReportField<Pair>> all(fields);
    EXPECT_EQ(names_of(all), std::vector<std::string_view>{"Name"});
    EXPECT_EQ(ReportTable<Pair>::make(all, "ALL", {})->line({"a", "7"}), "a   \n");
    EXPECT_EQ(ReportTable<Pair>::make(all, "old", {})->line({"a", "7"}), "  7 \n");
}

}  // namespace
}  // namespace switchyard::view
