#include "cli/scrontab/crontab.hpp"

#include <gtest/gtest.h>

#include <string>

namespace switchyard::cli {
namespace {

TEST(Crontab, EachEntryHasItsTimeItsCommandAndTheOptionsAboveIt) {
    const auto entries =
        parse_crontab("# nightly\n#SCRON -n2\n0 3 * * * backup --all\n@hourly true\n");
    ASSERT_TRUE(entries) << entries.error().message;
    ASSERT_EQ(entries->size(), 2u);
    EXPECT_EQ(entries->front().time, "0 3 * * *");
    EXPECT_EQ(entries->front().command, "backup --all");
    EXPECT_EQ(entries->front().line, 3u);
    EXPECT_EQ(entries->front().options.size(), 1u);
    EXPECT_TRUE(entries->back().options.empty());
}

TEST(Crontab, WhatCannotBeAScriptIsRefusedWithItsLine) {
    EXPECT_EQ(parse_crontab(std::string("0 3 * * * a\0b\n", 14)).error().message,
              "line 1: there is a NUL character in the command");
    EXPECT_EQ(parse_crontab("\n0 3 * * *\n").error().message,
              "line 2: a time and a command are needed");
}

}  // namespace
}  // namespace switchyard::cli
