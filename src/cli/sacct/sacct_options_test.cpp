// Goal: which jobs sacct means. Method: argv in, the window and the filter out; records against
// them.
#include <gtest/gtest.h>

#include "cli/sacct/sacct_options.hpp"
#include "cli/testing/command_line.hpp"
#include "view/testing/samples.hpp"

namespace switchyard::cli {
namespace {

constexpr Instant at(std::int64_t seconds) { return Instant{Seconds{seconds}}; }

SacctParsed parse(std::vector<std::string> words, Instant now) {
    CommandLine line("sacct", std::move(words));
    return parse_sacct(line.argc(), line.argv(), now);
}

TEST(SacctOptions, TheWindowDependsOnStatesAndIds) {
    const Instant now = at(1'800'000'000);
    const SacctParsed plain = parse({}, now);
    EXPECT_LT(plain.options.from, now);
    EXPECT_GE(plain.options.from, now - Seconds{25 * 3600});
    EXPECT_EQ(plain.options.to, now);
    EXPECT_EQ(parse({"-s", "R"}, now).options.from, now);
    EXPECT_EQ(parse({"-j", "7"}, now).options.from, Instant{});
    const SacctParsed both = parse({"-s", "F", "-S", "now-1hour"}, now);
    EXPECT_EQ(both.options.from, now - Seconds{3600});
    EXPECT_EQ(both.options.to, both.options.from);
    EXPECT_EQ(both.options.query.filter.states.size(), 1u);
    EXPECT_TRUE(parse({"-s", "F,R"}, now).options.query.filter.states.empty());
}

TEST(SacctOptions, IdsMayBeRepeatedAndNameSteps) {
    const SacctParsed parsed = parse({"-j", "1,2.batch", "--job", "3_4"}, at(1'800'000'000));
    ASSERT_EQ(parsed.options.query.filter.jobs.size(), 3u);
    EXPECT_EQ(parsed.options.query.filter.jobs[1].step, kBatchStep);
}

TEST(SacctOptions, AGroupIsANameOrANumberThatOneCanHave) {
    const Instant now = at(1'800'000'000);
    EXPECT_EQ(parse({"-g", "2001"}, now).options.gids, std::vector<std::uint32_t>{2001});
    EXPECT_EQ(parse({"-g", "root"}, now).options.gids, std::vector<std::uint32_t>{0});
    EXPECT_EQ(parse({"-g", "4294967296"}, now).exit_code, 1);  // Not group 0.
    EXPECT_EQ(parse({"-g", "no-such-group"}, now).exit_code, 1);
}

model::Job ran(Instant start, Instant end, model::JobState state) {
    model::Job job = view::samples::job(1, view::samples::spec("x"), model::Pending{});
    model::Running run;
    run.started = start;
    model::Outcome outcome;
    outcome.state = state;
    job.submitted = start;
    job.eligible = start;
    job.phase = model::Ended{.run = run, .ended = end, .outcome = outcome};
    return job;
}

TEST(SacctFilter, AFinishedStateMeansItEndedInTheWindowARunningOneThatItRanThen) {
    const model::Job job = ran(at(1000), at(2000), model::JobState::Failed);
    SacctOptions options;
    options.states = {model::JobState::Failed};
    options.from = at(1900);
    options.to = at(2100);
    EXPECT_TRUE(is_wanted(options, job));
    options.from = at(1100);
    options.to = at(1200);
    EXPECT_FALSE(is_wanted(options, job));
    options.states = {model::JobState::Running};
    EXPECT_TRUE(is_wanted(options, job));
    options.states.clear();
    EXPECT_TRUE(is_wanted(options, job));
    options.from = at(2001);
    options.to = at(3000);
    EXPECT_FALSE(is_wanted(options, job));
}

}  // namespace
}  // namespace switchyard::cli
