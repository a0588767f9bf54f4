#include "base/cell_width.hpp"

#include <gtest/gtest.h>

namespace switchyard {
namespace {

TEST(CellWidth, ChineseCharactersTakeTwoCellsAndMarksNone) {
    EXPECT_EQ(cell_width(""), 0u);
    EXPECT_EQ(cell_width("train"), 5u);
    EXPECT_EQ(cell_width("训练"), 4u);
    EXPECT_EQ(cell_width("größe"), 5u);
    EXPECT_EQ(cell_width("e\u0301"), 1u) << "a letter and the accent upon it";
    EXPECT_EQ(cell_width("한글 かな"), 9u);
    EXPECT_EQ(cell_width("🚀"), 2u);
    EXPECT_EQ(cell_width("\xff\xfe"), 2u) << "bytes that are no UTF-8 count one each";
}

TEST(CellWidth, NoCharacterIsCutInHalf) {
    EXPECT_EQ(fit_to_cells("train", 3), "tra");
    EXPECT_EQ(fit_to_cells("训练任务", 5), "训练");
    EXPECT_EQ(fit_to_cells("训练任务", 8), "训练任务");
    EXPECT_EQ(fit_to_cells("训", 1), "");
    EXPECT_EQ(fit_to_cells("e\u0301a", 1), "e\u0301");
    EXPECT_EQ(fit_to_cells("训练", 0), "");
}

}  // namespace
}  // namespace switchyard
