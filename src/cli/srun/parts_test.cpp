// parts_test.cpp: the parts of srun that decide: words for exits,
// --multi-prog, -i, -o, -e.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "cli/srun/streams.hpp"
#include "cli/step_io/task_table.hpp"

namespace switchyard::cli {
namespace {

using testing::ElementsAre;

int exited_with(int code) { return code << 8; }

TEST(TaskExit, IsToldInSlurmsWords) {
    EXPECT_EQ(describe({"n1", model::IndexSet::range(0, 0), exited_with(3)}),
              "n1: task 0: Exited with exit code 3");
    EXPECT_EQ(describe({"n2", model::IndexSet::range(0, 3), exited_with(3)}),
              "n2: tasks 0-3: Exited with exit code 3");
    EXPECT_EQ(describe({"n1", model::IndexSet::range(0, 0), SIGTERM}), "n1: task 0: Terminated");
    EXPECT_EQ(describe({"n1", model::IndexSet::range(0, 0), SIGKILL}), "n1: task 0: Killed");
    EXPECT_EQ(describe({"n1", model::IndexSet::range(0, 0), SIGSEGV}),
              "n1: task 0: Segmentation fault");
    EXPECT_EQ(describe({"n1", model::IndexSet::range(0, 0), SIGSEGV | 0x80}),
              "n1: task 0: Segmentation fault (core dumped)");
    EXPECT_EQ(describe({"n1", model::IndexSet::range(0, 0), SIGKILL, true}),
              "n1: task 0: Out Of Memory");
    EXPECT_EQ(describe({"n1", model::IndexSet::range(0, 0), 0}), "n1: task 0: Completed");
}

TEST(TaskTable, TheHighestExitCodeIsTheSteps) {
    TaskTable table(3);
    table.end({"n1", model::IndexSet::range(0, 0), exited_with(3)});
    table.end({"n1", model::IndexSet::range(1, 1), exited_with(4)});
    EXPECT_FALSE(table.all_ended());
    table.end({"n1", model::IndexSet::range(2, 2), 0});
    EXPECT_TRUE(table.all_ended());
    EXPECT_EQ(table.exit_code(), 4);
    EXPECT_FALSE(table.was_killed());
}

TEST(TaskTable, ASignalCountsAsItsNumberAnd128) {
    TaskTable table(2);
    table.end({"n1", model::IndexSet::range(0, 0), exited_with(4)});
    table.end({"n1", model::IndexSet::range(1, 1), SIGTERM});
    EXPECT_EQ(table.exit_code(), 143);
    EXPECT_TRUE(table.was_killed());
    TaskTable crashed(1);
    crashed.end({"n1", model::IndexSet::range(0, 0), SIGSEGV});
    EXPECT_EQ(crashed.exit_code(), 139);
    EXPECT_FALSE(crashed.was_killed());
}

TEST(TaskTable, StatesAreListedByTasks) {
    TaskTable table(6);
    table.start(model::IndexSet::range(0, 4));
    table.end({"n1", model::IndexSet::range(0, 0), 0});
    table.end({"n1", model::IndexSet::range(1, 2), exited_with(1)});
    EXPECT_THAT(table.state_lines(),
                ElementsAre("tasks 3-4: running", "task 0: exited", "tasks 1-2: exited abnormally",
                            "task 5: unknown"));
}

TEST(ExitGatherer, PutsLikeExitsOfANodeTogether) {
    ExitGatherer gatherer;
    gatherer.add({"n10", model::IndexSet::range(4, 4), exited_with(3)});
    gatherer.add({"n2", model::IndexSet::range(0, 0), exited_with(3)});
    gatherer.add({"n2", model::IndexSet::range(2, 2), exited_with(1)});
    gatherer.add({"n2", model::IndexSet::range(1, 1), exited_with(3)});
    std::vector<std::string> lines;
    for (const TaskExit& exit : gatherer.take()) lines.push_back(describe(exit));
    EXPECT_THAT(lines, ElementsAre("n2: tasks 0-1: Exited with exit code 3",
                                   "n2: task 2: Exited with exit code 1",
                                   "n10: task 4: Exited with exit code 3"));
    EXPECT_TRUE(gatherer.empty());
}

TEST(Streams, ModesAndFiles) {
    using Kind = Stream::Kind;
    options::LaunchSettings launch;
    EXPECT_EQ(plan_streams(launch).in.kind, Kind::Through);
    launch.std_in = "none";
    launch.std_out = "job-%j.out";
    Streams streams = plan_streams(launch);
    EXPECT_EQ(streams.in.kind, Kind::None);
    EXPECT_EQ(pattern_for_nodes(streams.in, true), "/dev/null");
    EXPECT_EQ(streams.out.kind, Kind::LocalFile);
    EXPECT_TRUE(streams.err_with_out);
    EXPECT_EQ(pattern_for_nodes(streams.out, true), "");
    launch.std_in = "3";
    launch.std_out = "out.%t.%N";
    launch.std_err = "err.%4t";
    streams = plan_streams(launch);
    EXPECT_EQ(streams.in.kind, Kind::OneTask);
    EXPECT_EQ(streams.in.task, 3u);
    EXPECT_EQ(pattern_for_nodes(streams.out, true), "out.%t.%N");
    EXPECT_EQ(pattern_for_nodes(streams.err, true), "err.%4t");
    EXPECT_FALSE(streams.err_with_out);
}

TEST(Streams, ATerminalIsTaskZerosAlone) {
    options::LaunchSettings launch;
    launch.pty = true;
    launch.std_out = "file";
    const Streams streams = plan_streams(launch);
    EXPECT_EQ(streams.in.kind, Stream::Kind::OneTask);
    EXPECT_EQ(streams.out.kind, Stream::Kind::Through);
}

}  // namespace
}  // namespace switchyard::cli
