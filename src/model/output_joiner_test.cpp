#include "model/output_joiner.hpp"

#include <gtest/gtest.h>

namespace switchyard::model {
namespace {

struct Joined {
    std::string text;
    OutputJoiner joiner;
    explicit Joined(OutputJoiner::Style style)
        : joiner(style, [this](std::string_view bytes) { text += bytes; }) {}
};

TEST(OutputJoiner, LinesOfSeveralTasksDoNotMix) {
    Joined out({.label = false, .unbuffered = false, .task_count = 2});
    out.joiner.take(0, "one");
    out.joiner.take(1, "two\nthr");
    out.joiner.take(0, " and a half\n");
    EXPECT_EQ(out.text, "two\none and a half\n");
    out.joiner.end_all();
    EXPECT_EQ(out.text, "two\none and a half\nthr");
}

TEST(OutputJoiner, LabelsHaveTheWidthOfTheLastTask) {
    Joined few({.label = true, .unbuffered = false, .task_count = 10});
    few.joiner.take(9, "x\n");
    EXPECT_EQ(few.text, "9: x\n");
    Joined many({.label = true, .unbuffered = false, .task_count = 11});
    many.joiner.take(0, "a\n\nb\n");
    many.joiner.take(10, "c\n");
    EXPECT_EQ(many.text, " 0: a\n 0: \n 0: b\n10: c\n");
}

TEST(OutputJoiner, ALabelledLineThatNeverEndedIsEnded) {
    Joined out({.label = true, .unbuffered = false, .task_count = 2});
    out.joiner.take(1, "no end");
    EXPECT_EQ(out.text, "");
    out.joiner.end(1);
    EXPECT_EQ(out.text, "1: no end\n");
}

TEST(OutputJoiner, UnbufferedOutputIsPassedOnAtOnceAndLabelledOncePerLine) {
    Joined plain({.label = false, .unbuffered = true, .task_count = 4});
    plain.joiner.take(2, "pro");
    EXPECT_EQ(plain.text, "pro");
    Joined labelled({.label = true, .unbuffered = true, .task_count = 4});
    labelled.joiner.take(2, "pro");
    labelled.joiner.take(2, "mpt\nnext");
    EXPECT_EQ(labelled.text, "2: prompt\n2: next");
}

TEST(OutputJoiner, ASingleTaskIsNotHeldBack) {
    Joined out({.label = false, .unbuffered = false, .task_count = 1});
    out.joiner.take(0, "prompt> ");
    EXPECT_EQ(out.text, "prompt> ");
}

TEST(OutputJoiner, AnEndlessLineIsPassedOnInPieces) {
    Joined out({.label = true, .unbuffered = false, .task_count = 2});
    const std::string piece(200u << 10, 'x');
    out.joiner.take(0, piece);
    out.joiner.take(0, piece);
    out.joiner.take(0, "end\n");
    EXPECT_EQ(out.text, "0: " + piece + piece + "end\n");
}

}  // namespace
}  // namespace switchyard::model
