// Goal: command lines and environments of scancel, as programs and people type
// them. Method: argv in, options or an exit code out.
#include <gtest/gtest.h>

#include <cstdlib>

#include "cli/scancel/scancel_options.hpp"
#include "cli/testing/command_line.hpp"

namespace switchyard::cli {
namespace {

ScancelParsed scancel(std::vector<std::string> words) {
    CommandLine line("scancel", std::move(words));
    return parse_scancel(line.argc(), line.argv());
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

}  // namespace
}  // namespace switchyard::cli
