// Goal: command lines and environments of squeue, as programs and people type
// them. Method: argv in, options or an exit code out.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "cli/squeue/squeue_options.hpp"
#include "cli/testing/command_line.hpp"
#include "view/testing/samples.hpp"

namespace switchyard::cli {
namespace {

SqueueParsed squeue(std::vector<std::string> words) {
    CommandLine line("squeue", std::move(words));
    return parse_squeue(line.argc(), line.argv());
}

TEST(SqueueOptions, OneIdMustExistAndSeveralNeedNot) {
    const auto one = squeue({"-j", "12"});
    ASSERT_FALSE(one.exit_code);
    EXPECT_TRUE(one.options.query.one_job);
    EXPECT_FALSE(squeue({"-j", "12,12"}).options.query.one_job);
    EXPECT_EQ(squeue({"--job", "12_3", "-h"}).options.query.filter.jobs.size(), 1u);
    EXPECT_EQ(squeue({"--jobs=12,13"}).options.query.filter.jobs.size(), 2u);
    EXPECT_EQ(squeue({"-j", "abc"}).exit_code, 1);
}

TEST(SqueueOptions, LettersClusterAndTakeTheirArgumentInTheSameWord) {
    const auto parsed = squeue({"-ho", "%N", "-uroot"});
    ASSERT_FALSE(parsed.exit_code);
    EXPECT_FALSE(parsed.options.header);
    EXPECT_EQ(parsed.options.table.format, "%N");
    EXPECT_EQ(parsed.options.query.filter.uids, std::vector<std::uint32_t>{0});
    EXPECT_EQ(squeue({"-o %A|%a"}).options.table.format, " %A|%a");
}

TEST(SqueueOptions, StatesMayBeAllOrNamedInAnyForm) {
    const auto all = squeue({"-t", "all"});
    EXPECT_TRUE(all.options.query.all_states);
    EXPECT_TRUE(all.options.query.filter.states.empty());
    const auto some = squeue({"--states=PENDING,r,cg"});
    EXPECT_EQ(some.options.query.filter.states,
              (std::vector{model::JobState::Pending, model::JobState::Running,
                           model::JobState::Completing}));
    EXPECT_EQ(squeue({"-t", "dreaming"}).exit_code, 1);
}

TEST(SqueueOptions, AnUnknownUserHasNoJobs) {
    const auto parsed = squeue({"-u", "no-such-user-here"});
    EXPECT_FALSE(parsed.exit_code);
    EXPECT_TRUE(parsed.options.matches_nothing);
    EXPECT_EQ(squeue({"--me"}).options.query.filter.uids, std::vector<std::uint32_t>{geteuid()});
}

TEST(SqueueOptions, TheEnvironmentIsUsedWhereTheCommandLineIsSilent) {
    setenv("SQUEUE_FORMAT", "%A", 1);
    setenv("SQUEUE_PARTITION", "gpu", 1);
    EXPECT_EQ(squeue({}).options.table.format, "%A");
    EXPECT_EQ(squeue({}).options.query.filter.partitions, std::vector<std::string>{"gpu"});
    EXPECT_EQ(squeue({"-o", "%i", "-p", "debug"}).options.table.format, "%i");
    EXPECT_EQ(squeue({"-p", "debug"}).options.query.filter.partitions,
              std::vector<std::string>{"debug"});
    EXPECT_EQ(squeue({"-l"}).options.table.format, view::kJobFormatLong);
    unsetenv("SQUEUE_FORMAT");
    unsetenv("SQUEUE_PARTITION");
}

TEST(SqueueOptions, StartMeansWaitingJobsByTheirStart) {
    const auto parsed = squeue({"--start"});
    EXPECT_EQ(parsed.options.table.sort, "S");
    EXPECT_EQ(parsed.options.table.format, view::kJobFormatStart);
    EXPECT_EQ(parsed.options.query.filter.states, std::vector{model::JobState::Pending});
}

TEST(SqueueOptions, ContradictionsAndUnknownWordsAreRefused) {
    EXPECT_EQ(squeue({"-o", "%A", "-O", "JobID"}).exit_code, 1);
    EXPECT_EQ(squeue({"-l", "-o", "%A"}).exit_code, 1);
    EXPECT_EQ(squeue({"--nosuch"}).exit_code, 1);
    EXPECT_EQ(squeue({"12"}).exit_code, 1);
    EXPECT_EQ(squeue({"-i", "0"}).exit_code, 1);
    EXPECT_EQ(squeue({"--json=v9"}).exit_code, 1);
    EXPECT_EQ(squeue({"--json=list"}).exit_code, 0);
    EXPECT_TRUE(squeue({"--json"}).options.document.kind);
    EXPECT_EQ(squeue({"--version"}).exit_code, 0);
}

TEST(SqueueOptions, FinishedJobsAreOnlyShownWhenAskedFor) {
    model::Ended over;
    over.outcome.state = model::JobState::Failed;
    const model::Job done = view::samples::job(1, view::samples::spec("x"), over);
    EXPECT_FALSE(is_wanted(done, squeue({}).options, Instant{}));
    EXPECT_TRUE(is_wanted(done, squeue({"-t", "all"}).options, Instant{}));
    EXPECT_TRUE(is_wanted(done, squeue({"-t", "F"}).options, Instant{}));
    EXPECT_FALSE(is_wanted(done, squeue({"-t", "CD"}).options, Instant{}));
    model::JobSpec licensed = view::samples::spec("x");
    licensed.licenses = "matlab:2,other";
    const model::Job job =
        view::samples::job(1, licensed, view::samples::pending(model::Reason::None));
    EXPECT_TRUE(is_wanted(job, squeue({"-L", "matlab"}).options, Instant{}));
    EXPECT_FALSE(is_wanted(job, squeue({"-L", "mat"}).options, Instant{}));
}

TEST(SqueueOptions, JobsAreChosenByHowLongTheyHaveRunAndByWhoseTheyAre) {
    const model::Job waits = view::samples::job(1, view::samples::spec("x"),
                                                view::samples::pending(model::Reason::None));
    EXPECT_FALSE(is_wanted(waits, squeue({"--running-over=1"}).options, Instant{}));
    EXPECT_FALSE(is_wanted(waits, squeue({"--running-under=1"}).options, Instant{}));
    EXPECT_EQ(squeue({"--running-over=x"}).exit_code, 1);
    SqueueOptions others = squeue({"--notme"}).options;
    EXPECT_EQ(others.not_uid, geteuid());
    others.not_uid = waits.spec->uid;
    EXPECT_FALSE(is_wanted(waits, others, Instant{}));
    others.not_uid = waits.spec->uid + 1;
    EXPECT_TRUE(is_wanted(waits, others, Instant{}));
}

}  // namespace
}  // namespace switchyard::cli
