// accounting_test.cpp: amounts and usage as the history commands write them.
#include <gtest/gtest.h>

#include "view/accounting/amounts.hpp"
#include "view/accounting/usage_text.hpp"

namespace switchyard::view {
namespace {

TEST(Amounts, AreConvertedOnlyWhereNothingIsLost) {
    EXPECT_EQ(amount_text(11997184, 0, {}), "11716K");
    EXPECT_EQ(amount_text(30226, 0, {}), "30226");
    EXPECT_EQ(amount_text(4096, 'M', {}), "4G");
    EXPECT_EQ(amount_text(0, 0, {}), "0");
    EXPECT_EQ(amount_text(11997184, 0, {.convert = false, .fixed = std::nullopt}), "11997184");
    EXPECT_EQ(amount_text(11997184, 0, {.convert = true, .fixed = 'M'}), "11.44M");
    EXPECT_EQ(amount_text(2, 'G', {.convert = true, .fixed = 'M'}), "2048M");
}

TEST(Amounts, ProcessorTimeShowsMillisecondsBelowAnHour) {
    EXPECT_EQ(cpu_time_text(4510), "00:00.004");
    EXPECT_EQ(cpu_time_text(65'000'000), "00:01:05");
    EXPECT_EQ(cpu_time_text(65'250'000), "01:05.250");
    EXPECT_EQ(cpu_time_text(93'784'000'000), "1-02:03:04");
}

TEST(Amounts, TresAreInTheOrderOfTheirNames) {
    EXPECT_EQ(sorted_tres("cpu=4,mem=400M,node=2,billing=4,gres/gpu=1,gres/gpu:a=1", true, {}),
              "billing=4,cpu=4,gres/gpu:a=1,gres/gpu=1,mem=400M,node=2");
    EXPECT_EQ(sorted_tres("cpu=4,mem=4G,billing=4", false, {.convert = true, .fixed = 'M'}),
              "cpu=4,mem=4096M");
}

TEST(UsageText, NamesTheMeasuresOfOneDirection) {
    model::StepUsage usage;
    model::add(usage, "mem", false, {.value = 4096, .node = "n1", .task = 0});
    model::add(usage, "mem", false, {.value = 8192, .node = "n2", .task = 1});
    model::add(usage, "cpu", false, {.value = 61'000, .node = "n2", .task = 1});
    model::add(usage, "fs/disk", true, {.value = 7, .node = "n1", .task = 0});
    EXPECT_EQ(figures_text(usage, false, Figure::Max, {}), "cpu=00:01:01,mem=8K");
    EXPECT_EQ(places_text(usage, false, Figure::Max, Where::Node), "cpu=n2,mem=n2");
    EXPECT_EQ(figures_text(usage, true, Figure::Total, {}), "fs/disk=7");
    EXPECT_EQ(figure_text(usage, "mem", false, Figure::Average, {}), "6K");
    EXPECT_EQ(place_text(usage, "mem", false, Figure::Min, Where::Task), "0");
    EXPECT_EQ(figure_text(usage, "vmem", false, Figure::Max, {}), "");
}

TEST(UsageText, TheFrequencyOfTheTasksIsAveragedAndNoTres) {
    model::StepUsage usage;
    EXPECT_EQ(frequency_text(usage, {}), "0");
    model::add(usage, model::kFrequency, false, {.value = 2'440'000, .node = "n1", .task = 0});
    EXPECT_EQ(frequency_text(usage, {}), "2.44M");
    model::add(usage, model::kFrequency, false, {.value = 1'240'000, .node = "n2", .task = 1});
    EXPECT_EQ(average_khz(usage), 1'840'000u);
    EXPECT_EQ(frequency_text(usage, {.convert = false, .fixed = {}}), "1840000");
    EXPECT_EQ(figures_text(usage, false, Figure::Max, {}), "");
    EXPECT_EQ(places_text(usage, false, Figure::Max, Where::Node), "");
}

}  // namespace
}  // namespace switchyard::view
