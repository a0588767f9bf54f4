// Goal: the language of -o and -O, and how cells are cut and padded. Method: compare text.
#include "view/table/column_format.hpp"

#include <gtest/gtest.h>

#include "view/table/field_table.hpp"

namespace switchyard::view {
namespace {

std::string cell(std::string_view text, std::size_t width, bool right, Overflow overflow) {
    Column column;
    column.width = width;
    column.right = right;
    column.suffix = "|";
    char room[256];
    char* const end = put_cell(room, std::end(room), text, column, overflow);
    return std::string(room, static_cast<std::size_t>(end - room));
}

TEST(ColumnFormat, ReadsWidthJustificationLetterAndTheTextBehind) {
    const auto columns = parse_letter_format("%.18i %j/%20P,");
    ASSERT_EQ(columns.size(), 3u);
    EXPECT_EQ(columns[0], (Column{"i", 18, true, " ", "%.18i "}));
    EXPECT_EQ(columns[1], (Column{"j", 0, false, "/", "%j/"}));
    EXPECT_EQ(columns[2], (Column{"P", 20, false, ",", "%20P,"}));
}

TEST(ColumnFormat, KeepsTheTextBeforeTheFirstField) {
    const auto columns = parse_letter_format(" %A|%a");
    ASSERT_EQ(columns.size(), 3u);
    EXPECT_EQ(columns[0].field, "");
    EXPECT_EQ(columns[0].suffix, " ");
    EXPECT_EQ(columns[2].field, "a");
}

TEST(ColumnFormat, TextWithoutAnyFieldIsPrintedAsItIs) {
    const auto columns = parse_letter_format("hello");
    ASSERT_EQ(columns.size(), 1u);
    EXPECT_EQ(columns[0].suffix, "hello");
}

TEST(ColumnFormat, LongNamesAreTwentyWideUnlessAColonSaysOtherwise) {
    const auto columns = parse_long_format("JobID,Name:8,State:.10,Account:#,User:12;,Reason:");
    ASSERT_EQ(columns.size(), 6u);
    EXPECT_EQ(columns[0].width, 20u);
    EXPECT_EQ(columns[1].width, 8u);
    EXPECT_TRUE(columns[2].right);
    EXPECT_EQ(columns[2].width, 10u);
    EXPECT_EQ(columns[3].width, 0u);
    EXPECT_EQ(columns[3].suffix, "#");
    EXPECT_EQ(columns[4].width, 12u);
    EXPECT_EQ(columns[4].suffix, ";");
    EXPECT_EQ(columns[5].width, 0u);
}

TEST(ColumnFormat, ANegativeWidthIsNoneAndABlankBehind) {
    const auto columns = parse_long_format("JobID:-10,Name:-3|");
    ASSERT_EQ(columns.size(), 2u);
    EXPECT_EQ(columns[0].width, 0u);
    EXPECT_EQ(columns[0].suffix, " ");
    EXPECT_EQ(columns[1].suffix, " |");
}

TEST(ColumnFormat, AnAbsurdWidthIsLimited) {
    EXPECT_EQ(parse_letter_format("%99999999999999999999i")[0].width, kWidthMax);
}

TEST(ColumnFormat, CellsArePaddedAndCut) {
    EXPECT_EQ(cell("abc", 5, false, Overflow::Cut), "abc  |");
    EXPECT_EQ(cell("abc", 5, true, Overflow::Cut), "  abc|");
    EXPECT_EQ(cell("abcdef", 3, true, Overflow::Cut), "abc|");
    EXPECT_EQ(cell("abcdef", 0, false, Overflow::Cut), "abcdef|");
}

TEST(ColumnFormat, NodeListsAreNotCutInARightJustifiedColumn) {
    EXPECT_EQ(cell("n[1-9]", 3, true, Overflow::NodeList), "n[1-9]|");
    EXPECT_EQ(cell("n[1-9]", 3, false, Overflow::NodeList), "n[1|");
    EXPECT_EQ(cell("(Resources)", 4, true, Overflow::NodeList), "(Res|");
}

TEST(FieldTable, WideCharactersTakeTheirCellsAndAreNotCutInHalf) {
    const Field<std::string> fields[] = {
        {'n', "Name", "NAME", Overflow::Cut, [](const std::string& name) { return name; }}};
    const auto row = [&](std::string_view format, const std::string& name) {
        std::string text;
        FieldTable<std::string>::by_letter(fields, parse_letter_format(format))
            .append_row(text, name);
        return text;
    };
    EXPECT_EQ(row("%.8n|", "训练任务"), "训练任务|\n");
    EXPECT_EQ(row("%.8n", "训练"), "    训练\n");
    EXPECT_EQ(row("%8n|", "größe"), "größe   |\n");
    EXPECT_EQ(row("%.5n|", "训练任务"), " 训练|\n");
    EXPECT_EQ(row("%5n|", "a训练任务"), "a训练|\n");
}

}  // namespace
}  // namespace switchyard::view
