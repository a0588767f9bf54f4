#include <gtest/gtest.h>

#include "base/limits.hpp"
#include "core/cluster/check_texts.hpp"
#include "core/cluster/check_values.hpp"

namespace switchyard::core {
namespace {

using model::JobSpec;
using model::StepSpec;

constexpr std::uint32_t kHuge = 0xffffffff;

std::string problem(const Status& status) { return status ? "" : status.error().message; }
Errc code(const Status& status) { return status ? Errc::Internal : status.error().code; }

TEST(CheckTexts, EveryTextOfAJobHasALimitAndIsNamed) {
    struct Case {
        std::string JobSpec::* text;
        std::size_t max;
        std::string what;
    };
    const Case cases[] = {{&JobSpec::name, limits::kJobNameBytesMax, "job name"},
                          {&JobSpec::account, limits::kWordBytesMax, "account"},
                          {&JobSpec::qos, limits::kWordBytesMax, "QOS"},
                          {&JobSpec::wckey, limits::kWordBytesMax, "wckey"},
                          {&JobSpec::reservation, limits::kWordBytesMax, "reservation"},
                          {&JobSpec::comment, limits::kCommentBytesMax, "comment"},
                          {&JobSpec::extra, limits::kCommentBytesMax, "extra"},
                          {&JobSpec::constraint, limits::kConstraintBytesMax, "constraint"},
                          {&JobSpec::prefer, limits::kConstraintBytesMax, "prefer"},
                          {&JobSpec::licenses, limits::kConstraintBytesMax, "licenses"},
                          {&JobSpec::std_in, limits::kPathBytesMax, "input file"},
                          {&JobSpec::std_out, limits::kPathBytesMax, "output file"},
                          {&JobSpec::std_err, limits::kPathBytesMax, "error file"},
                          {&JobSpec::command, limits::kPathBytesMax, "command"},
                          {&JobSpec::network, limits::kWordBytesMax, "network"},
                          {&JobSpec::mcs_label, limits::kWordBytesMax, "MCS label"},
                          {&JobSpec::gpu_bind, limits::kWordBytesMax, "gpu bind"},
                          {&JobSpec::gpu_freq, limits::kWordBytesMax, "gpu freq"},
                          {&JobSpec::submit_host, limits::kWordBytesMax, "submit host"},
                          {&JobSpec::mail_user, limits::kWordBytesMax, "mail user"},
                          {&JobSpec::cron, limits::kWordBytesMax, "crontab time"}};
    for (const Case& each : cases) {
        JobSpec spec;
        spec.*each.text = std::string(each.max, 'x');
        EXPECT_TRUE(check_texts(spec)) << each.what;
        spec.*each.text += 'x';
        EXPECT_EQ(problem(check_texts(spec)), each.what + " has " + std::to_string(each.max + 1) +
                                                  " bytes, the limit is " +
                                                  std::to_string(each.max));
    }
}

TEST(CheckTexts, AllOfThemTogetherHaveOneToo) {
    JobSpec spec;
    for (int i = 0; i < 300; ++i) spec.excluded_nodes.push_back(std::string(1000, 'x'));
    EXPECT_EQ(problem(check_texts(spec)), "job has 300000 bytes in all, the limit is 262144");
}

TEST(CheckTexts, ZeroBytesAreNowhereAndControlCharactersNotInWords) {
    JobSpec spec;
    spec.comment = "two\nlines";
    spec.name = "a\nb";
    EXPECT_TRUE(check_texts(spec));
    spec.comment = std::string("a\0b", 3);
    EXPECT_EQ(problem(check_texts(spec)), "comment has a zero byte in it");
    spec.comment.clear();
    spec.account = "a\nb";
    EXPECT_EQ(problem(check_texts(spec)), "account has a control character in it");
}

TEST(CheckTexts, AMailUserIsNoOptionAndOneWord) {
    EXPECT_TRUE(check_mail_user(""));
    EXPECT_TRUE(check_mail_user("a@b.org,c"));
    for (const char* bad : {"--exec=!id", "a@b,-c", "a b", "a\tb", "a\n@b", "a\rb", "\x7f"})
        EXPECT_FALSE(check_mail_user(bad)) << bad;
}

TEST(CheckTexts, TheWorkingDirectoryIsAbsolute) {
    JobSpec spec;
    spec.work_dir = "../etc";
    EXPECT_EQ(code(check_texts(spec)), Errc::InvalidArgument);
    spec.work_dir = "/etc";
    EXPECT_TRUE(check_texts(spec));
}

TEST(CheckTexts, TheSubmitLineIsCutAndNotRefused) {
    JobSpec spec;
    spec.submit_line = std::string(200'000, 'x');
    tidy(spec, false);
    EXPECT_EQ(spec.submit_line.size(), limits::kSubmitLineBytesMax);
    EXPECT_TRUE(check_texts(spec));
}

TEST(CheckTexts, UpdatesStepsTriggersNodesPartitionsAndReservationsToo) {
    const std::string text(100'000, 'x');
    model::JobUpdate job;
    job.admin_comment = text;
    EXPECT_FALSE(check_texts(job));
    job.admin_comment.reset();
    job.mail_user = "-x";
    EXPECT_FALSE(check_texts(job));
    StepSpec step;
    step.name = text;
    EXPECT_FALSE(check_texts(step));
    model::NodeUpdate node;
    node.reason = text;
    EXPECT_FALSE(check_texts(node));
    model::PartitionUpdate partition;
    partition.allow_groups = {text};
    EXPECT_FALSE(check_texts(partition));
    model::ReservationUpdate reservation;
    reservation.comment = text;
    EXPECT_FALSE(check_texts(reservation));
    model::Trigger trigger;
    trigger.program = "/bin/a\nb";
    EXPECT_FALSE(check_texts(trigger));
    EXPECT_FALSE(check_comment(text, "message"));
}

TEST(CheckValues, CountsThatWouldOverflowAreRefused) {
    const auto refused = [](auto change) {
        JobSpec spec;
        change(spec);
        return code(check_values(spec));
    };
    EXPECT_EQ(refused([](JobSpec& s) { s.nodes_min = kHuge; }), Errc::InvalidNodeCount);
    EXPECT_EQ(refused([](JobSpec& s) { s.nodes_max = kHuge; }), Errc::InvalidNodeCount);
    EXPECT_EQ(refused([](JobSpec& s) { s.tasks = kHuge; }), Errc::InvalidTaskCount);
    EXPECT_EQ(refused([](JobSpec& s) { s.tasks_per_node = kHuge; }), Errc::InvalidTaskCount);
    EXPECT_EQ(refused([](JobSpec& s) { s.tasks_per_gpu = kHuge; }), Errc::InvalidTaskCount);
    EXPECT_EQ(refused([](JobSpec& s) { s.cpus_per_task = kHuge; }), Errc::InvalidCpuCount);
    EXPECT_EQ(refused([](JobSpec& s) { s.core_spec = kHuge; }), Errc::InvalidCpuCount);
    EXPECT_EQ(refused([](JobSpec& s) {
                  s.tasks = 1 << 20;
                  s.cpus_per_task = 1 << 20;
              }),
              Errc::TooManyCpus);
    EXPECT_EQ(refused([](JobSpec& s) { s.memory.amount.value = UINT64_MAX; }),
              Errc::MemoryNotSatisfiable);
    EXPECT_EQ(refused([](JobSpec& s) { s.gres_per_node = {{"gpu", "", UINT64_MAX}}; }),
              Errc::InvalidGres);
    EXPECT_EQ(refused([](JobSpec& s) { s.gpus_per_job = {{"gpu", "", 0}}; }), Errc::InvalidGres);
    EXPECT_EQ(refused([](JobSpec& s) { s.dependency.terms.resize(2000); }),
              Errc::DependencyProblem);
    EXPECT_EQ(refused([](JobSpec& s) { s.warn_signal.signal = 65; }), Errc::InvalidArgument);
    EXPECT_EQ(refused([](JobSpec& s) { s.nice = INT32_MIN; }), Errc::InvalidArgument);
    EXPECT_EQ(refused([](JobSpec& s) { s.distribution.nodes = model::Distribution::Nodes::Plane; }),
              Errc::TaskDistribution);
    EXPECT_TRUE(check_values(JobSpec{}));
}

TEST(CheckValues, TimesLieBetween1970And9999) {
    for (const std::int64_t second : {std::int64_t{-1}, std::int64_t{253402300800}}) {
        JobSpec begin, deadline;
        begin.begin = from_unix_seconds(second);
        deadline.deadline = from_unix_seconds(second);
        EXPECT_EQ(code(check_values(begin)), Errc::InvalidTime);
        EXPECT_EQ(code(check_values(deadline)), Errc::InvalidTime);
        model::JobUpdate update;
        update.end = from_unix_seconds(second);
        EXPECT_EQ(code(check_values(update)), Errc::InvalidTime);
        model::ReservationUpdate reservation;
        reservation.start = from_unix_seconds(second);
        EXPECT_EQ(code(check_values(reservation)), Errc::InvalidTime);
    }
    JobSpec spec;
    spec.begin = Instant::max();
    EXPECT_EQ(code(check_values(spec)), Errc::InvalidTime);
    spec.begin.reset();
    spec.time_limit = model::TimeLimit{Seconds{-60}, false};
    EXPECT_EQ(code(check_values(spec)), Errc::InvalidTimeLimit);
    model::ReservationUpdate endless;
    endless.start = from_unix_seconds(1000);
    endless.duration = Seconds::max();
    EXPECT_EQ(code(check_values(endless)), Errc::InvalidTime);
    model::Trigger trigger;
    trigger.offset = Seconds::max();
    EXPECT_EQ(code(check_values(trigger)), Errc::InvalidTime);
}

TEST(CheckValues, StepsAreCheckedLikeJobs) {
    StepSpec spec;
    EXPECT_TRUE(check_values(spec));
    spec.tasks = 0;
    EXPECT_EQ(code(check_values(spec)), Errc::InvalidTaskCount);
    spec.tasks = 0xffffffff;
    EXPECT_EQ(code(check_values(spec)), Errc::InvalidTaskCount);
    spec.tasks = 1;
    spec.cpus_per_task = 0xffffffff;
    EXPECT_EQ(code(check_values(spec)), Errc::InvalidCpuCount);
}

TEST(CheckValues, NodesOfAnArbitraryDistributionAreNamedOnceForEachTask) {
    model::StepSpec spec;
    spec.required_nodes = {"n2", "n1", "n2"};
    tidy(spec);
    EXPECT_EQ(spec.required_nodes, (std::vector<std::string>{"n2", "n1"}));
    spec.required_nodes = {"n2", "n1", "n2"};
    spec.distribution.nodes = model::Distribution::Nodes::Arbitrary;
    tidy(spec);
    EXPECT_EQ(spec.required_nodes.size(), 3u);
}

TEST(CheckValues, WhatIsSaidTwiceCountsOnceAndOnlyOperatorsComeFirst) {
    JobSpec spec;
    spec.partitions = {"a", "b", "a"};
    spec.required_nodes = {"n1", "n1"};
    spec.gres_per_node = {{"gpu", "x", 1}, {"gpu", "x", 2}};
    spec.nice = -100;
    spec.priority = 4'000'000'000;
    JobSpec of_operator = spec;
    tidy(spec, false);
    EXPECT_EQ(spec.partitions, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(spec.required_nodes, (std::vector<std::string>{"n1"}));
    ASSERT_EQ(spec.gres_per_node.size(), 1u);
    EXPECT_EQ(spec.gres_per_node[0].count, 3u);
    EXPECT_EQ(spec.nice, 0);
    EXPECT_FALSE(spec.priority);
    tidy(of_operator, true);
    EXPECT_EQ(of_operator.nice, -100);
    EXPECT_EQ(of_operator.priority, 4'000'000'000);
}

}  // namespace
}  // namespace switchyard::core
