#include "model/multi_prog.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace switchyard::model {
namespace {

using testing::ElementsAre;

TEST(MultiProg, LinesAreJoinedAndCommentsDropped) {
    EXPECT_THAT(
        multi_prog_lines("# first\n0 echo zero\n\n1-2 echo \\\nother %t\n  # last\n*  hostname"),
        ElementsAre("0 echo zero", "1-2 echo other %t", "*  hostname"));
}

TEST(MultiProg, EveryTaskNeedsAProgram) {
    const auto lines = multi_prog_lines("0 echo zero\n1-2 echo other\n");
    EXPECT_TRUE(check_multi_prog(lines, 3, "mp.conf"));
    EXPECT_EQ(check_multi_prog(lines, 4, "mp.conf").error().message,
              "Configuration file mp.conf invalid, no record for task id 3");
    EXPECT_TRUE(check_multi_prog(multi_prog_lines("0 a\n* b\n"), 9, "mp.conf"));
    EXPECT_FALSE(check_multi_prog(multi_prog_lines("0\n"), 1, "mp.conf"));
    EXPECT_FALSE(check_multi_prog(multi_prog_lines("x echo\n"), 1, "mp.conf"));
}

TEST(MultiProg, EveryTaskFindsItsLine) {
    const auto lines = multi_prog_lines(
        "# a comment\n0 echo zero\n1-2 echo 'other %t' of %o \\\n  more\n4,6 ./a.out -n %o\n"
        "* sleep %t\n");
    const auto of = [&](std::uint32_t task) { return *multi_prog_command(lines, task); };
    EXPECT_THAT(of(0), ElementsAre("echo", "zero"));
    EXPECT_THAT(of(2), ElementsAre("echo", "other 2", "of", "1", "more"));
    EXPECT_THAT(of(6), ElementsAre("./a.out", "-n", "1"));
    EXPECT_THAT(of(9), ElementsAre("sleep", "9"));
    EXPECT_FALSE(multi_prog_command({"0 true"}, 1));
    EXPECT_FALSE(multi_prog_command({"x true"}, 1));
    EXPECT_FALSE(multi_prog_command({"0"}, 0));
}

// srun and the nodes must read a line alike: a task without a program failed on its node.
TEST(MultiProg, WhatSrunLetsPassTheNodesCanRead) {
    EXPECT_FALSE(check_multi_prog(multi_prog_lines("0 # no program\n"), 1, "mp.conf"));
    const auto lines = multi_prog_lines("0 echo a\\\\");
    EXPECT_TRUE(check_multi_prog(lines, 1, "mp.conf"));
    EXPECT_THAT(*multi_prog_command(lines, 0), ElementsAre("echo", "a\\"));
    EXPECT_THAT(*multi_prog_command(multi_prog_lines("0 echo a\\ b ''"), 0),
                ElementsAre("echo", "a b", ""));
}

TEST(MultiProg, ALongWordIsReadInOneGo) {
    const std::string word(1u << 20, 'x');
    EXPECT_THAT(*multi_prog_command({"0 " + word}, 0), ElementsAre(word));
}

}  // namespace
}  // namespace switchyard::model
