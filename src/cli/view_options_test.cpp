// Goal: command lines and environments of squeue, sinfo and scancel, as programs and people type
// them. Method: argv in, options or an exit code out.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "cli/format/samples.hpp"
#include "cli/job_ids.hpp"
#include "cli/scancel_options.hpp"
#include "cli/sinfo_options.hpp"
#include "cli/squeue_options.hpp"

namespace switchyard::cli {
namespace {

// getopt moves the words of argv about, so each call has its own.
struct Arguments {
    explicit Arguments(std::vector<std::string> given) : words(std::move(given)) {
        for (std::string& word : words) pointers.push_back(word.data());
        pointers.push_back(nullptr);
    }
    std::vector<std::string> words;
    std::vector<char*> pointers;
    int count() const { return static_cast<int>(words.size()); }
};

SqueueParsed squeue(std::vector<std::string> words) {
    words.insert(words.begin(), "squeue");
    Arguments arguments(std::move(words));
    return parse_squeue(arguments.count(), arguments.pointers.data());
}
SinfoParsed sinfo(std::vector<std::string> words) {
    words.insert(words.begin(), "sinfo");
    Arguments arguments(std::move(words));
    return parse_sinfo(arguments.count(), arguments.pointers.data());
}
ScancelParsed scancel(std::vector<std::string> words) {
    words.insert(words.begin(), "scancel");
    Arguments arguments(std::move(words));
    return parse_scancel(arguments.count(), arguments.pointers.data());
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
    EXPECT_EQ(squeue({"-l"}).options.table.format, format::kJobFormatLong);
    unsetenv("SQUEUE_FORMAT");
    unsetenv("SQUEUE_PARTITION");
}

TEST(SqueueOptions, StartMeansWaitingJobsByTheirStart) {
    const auto parsed = squeue({"--start"});
    EXPECT_EQ(parsed.options.table.sort, "S");
    EXPECT_EQ(parsed.options.table.format, format::kJobFormatStart);
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
    const model::Job done = format::samples::job(1, format::samples::spec("x"), over);
    EXPECT_FALSE(is_wanted(done, squeue({}).options, Instant{}));
    EXPECT_TRUE(is_wanted(done, squeue({"-t", "all"}).options, Instant{}));
    EXPECT_TRUE(is_wanted(done, squeue({"-t", "F"}).options, Instant{}));
    EXPECT_FALSE(is_wanted(done, squeue({"-t", "CD"}).options, Instant{}));
    model::JobSpec licensed = format::samples::spec("x");
    licensed.licenses = "matlab:2,other";
    const model::Job job =
        format::samples::job(1, licensed, format::samples::pending(model::Reason::None));
    EXPECT_TRUE(is_wanted(job, squeue({"-L", "matlab"}).options, Instant{}));
    EXPECT_FALSE(is_wanted(job, squeue({"-L", "mat"}).options, Instant{}));
}

TEST(SqueueOptions, JobsAreChosenByHowLongTheyHaveRunAndByWhoseTheyAre) {
    const model::Job waits = format::samples::job(1, format::samples::spec("x"),
                                                  format::samples::pending(model::Reason::None));
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

TEST(SinfoOptions, ExportersCommandLinesAreRead) {
    const auto cluster = sinfo({"-ahNO", "nodehost:100,gres:512"});
    ASSERT_FALSE(cluster.exit_code);
    EXPECT_TRUE(cluster.options.all_partitions);
    EXPECT_TRUE(cluster.options.each_node);
    EXPECT_EQ(cluster.options.long_format, "nodehost:100,gres:512");
    EXPECT_EQ(sinfo({"-h", "-o %C"}).options.format, " %C");
    EXPECT_EQ(sinfo({"-h", "-o%R,%C"}).options.format, "%R,%C");
    EXPECT_EQ(sinfo({"-aho", "%F/%C"}).options.format, "%F/%C");
    EXPECT_EQ(sinfo({"--format", "%P,%m", "--noconvert"}).options.format, "%P,%m");
}

TEST(SinfoOptions, NodesAreFilteredByStateAndName) {
    const std::vector<model::Node> nodes = format::samples::nodes();
    const auto names = [&](std::vector<std::string> words) {
        std::string found;
        const SinfoParsed parsed = sinfo(std::move(words));
        for (const model::Node& node : nodes) {
            if (is_wanted(node, parsed.options)) found += node.config.name;
        }
        return found;
    };
    EXPECT_EQ(names({}), "n1n2n3n4");
    EXPECT_EQ(names({"-t", "idle"}), "n4");
    EXPECT_EQ(names({"-t", "MIX,down"}), "n1n2n3");
    EXPECT_EQ(names({"-t", "alloc"}), "n1n2") << "whatever else is said of a node with jobs";
    EXPECT_EQ(names({"-t", "I"}), "n4") << "the beginning of a word";
    EXPECT_EQ(names({"-t", "Drain+mixed"}), "n2");
    EXPECT_EQ(names({"-t", "drain"}), "n2");
    EXPECT_EQ(names({"-t", "drain&idle"}), "");
    EXPECT_EQ(names({"-R"}), "n2n3");
    EXPECT_EQ(names({"-n", "n[1,4]"}), "n1n4");
    EXPECT_EQ(names({"--dead"}), "");
    EXPECT_EQ(sinfo({"-t", "sleepy"}).exit_code, 1);
}

TEST(SinfoOptions, NamesGetTheRoomTheyNeed) {
    auto partitions = format::samples::partitions();
    const auto nodes = format::samples::nodes();
    EXPECT_EQ(default_format({}, partitions, nodes), "%9P %.5a %.10l %.6D %.6t %N");
    partitions[0].name = "interactive";
    EXPECT_EQ(default_format({}, partitions, nodes), "%12P %.5a %.10l %.6D %.6t %N");
    SinfoOptions each;
    each.each_node = true;
    EXPECT_EQ(default_format(each, partitions, nodes), "%9N %.6D %.12P %6t");
}

TEST(ScancelOptions, IdsStepsAndSignalsAreRead) {
    const auto parsed = scancel({"-s", "USR1", "--full", "12", "13_[1-3]", "14.0"});
    ASSERT_FALSE(parsed.exit_code);
    EXPECT_EQ(parsed.options.signal.signal, 10);
    EXPECT_TRUE(parsed.options.signal.full);
    ASSERT_EQ(parsed.options.filter.jobs.size(), 3u);
    EXPECT_EQ(parsed.options.filter.jobs[1].elements->size(), 3u);
    EXPECT_EQ(parsed.options.filter.jobs[2].step, StepId{0});
}

TEST(ScancelOptions, NothingToCancelIsAnErrorAndSoIsAnIdThatIsNone) {
    EXPECT_EQ(scancel({}).exit_code, 1);
    EXPECT_EQ(scancel({"abc"}).exit_code, 1);
    EXPECT_EQ(scancel({"-s", "NOSUCH", "12"}).exit_code, 1);
    EXPECT_EQ(scancel({"-u", "no-such-user-here"}).exit_code, 1);
}

TEST(ScancelOptions, FiltersComeFromOptionsAndEnvironment) {
    const auto parsed = scancel({"-t", "PENDING", "-n", "dep", "-p", "debug"});
    EXPECT_EQ(parsed.options.filter.states, std::vector{model::JobState::Pending});
    EXPECT_EQ(parsed.options.filter.names, std::vector<std::string>{"dep"});
    setenv("SCANCEL_NAME", "x", 1);
    EXPECT_EQ(scancel({}).options.filter.names, std::vector<std::string>{"x"});
    unsetenv("SCANCEL_NAME");
}

TEST(JobIds, CommasInsideBracketsDoNotSplit) {
    EXPECT_EQ(split_list("12_[1,3],14,,15"), (std::vector<std::string>{"12_[1,3]", "14", "15"}));
    EXPECT_EQ(parse_job_list("12,x").error().message, "x");
}

}  // namespace
}  // namespace switchyard::cli
