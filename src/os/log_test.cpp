#include "os/log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace switchyard::os {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

class LogTest : public testing::Test {
  protected:
    LogTest() { std::filesystem::create_directories(folder_); }
    ~LogTest() override { std::filesystem::remove_all(folder_); }

    std::string path(const std::string& name) const { return folder_ / name; }
    std::string text(const std::string& name) const {
        std::ostringstream out;
        out << std::ifstream(path(name)).rdbuf();
        return out.str();
    }

  private:
    std::filesystem::path folder_ = testing::TempDir() + "log_test." + std::to_string(::getpid());
};

TEST_F(LogTest, AnEventIsOneLineWithItsLevelAndTime) {
    Log log;
    ASSERT_TRUE(log.open(path("log")));
    log.error("node {}: {}", "n1", "lost");
    log.info("a name\nwith a line of its own");
    EXPECT_THAT(text("log"), testing::MatchesRegex("\\[20[-0-9]*T[:.0-9]*\\] error: node n1: lost\n"
                                                   "\\[20[-0-9]*T[:.0-9]*\\] a name.012with a "
                                                   "line of its own\n"));
}

TEST_F(LogTest, BracesInATextAreNoFormat) {
    Log log;
    ASSERT_TRUE(log.open(path("log")));
    log.info(std::string("{} {nonsense"));
    EXPECT_THAT(text("log"), EndsWith("] {} {nonsense\n"));
}

TEST_F(LogTest, TheLevelDecidesWhatIsWritten) {
    Log log;
    ASSERT_TRUE(log.open(path("log")));
    log.verbose("too much");
    log.set_level(kLogVerbose);
    log.verbose("shown");
    log.debug("too much");
    log.set_level(0);
    log.error("too much");
    EXPECT_THAT(text("log"), Not(HasSubstr("too much")));
    EXPECT_THAT(text("log"), HasSubstr("shown"));
    log.set_level(99);
    EXPECT_EQ(log.level(), kLogLast);
}

TEST_F(LogTest, WhatWasAskedForAtTheStartIsTheLeast) {
    EXPECT_EQ(Log().least_level(), 0u);
    EXPECT_EQ(Log(Log::Level::Debug).least_level(), kLogDebug);
    EXPECT_TRUE(Log(Log::Level::Debug).shows(Log::Level::Verbose));
}

TEST_F(LogTest, ATopicIsLoggedWhateverTheLevel) {
    Log log(Log::Level::Quiet);
    ASSERT_TRUE(log.open(path("log")));
    log.about(Log::Topic::Steps, "step {}", 1);
    ASSERT_TRUE(Log::find_topic("steps").has_value());
    log.set_topic(*Log::find_topic("steps"), true);
    log.about(Log::Topic::Steps, "step {}", 2);
    EXPECT_THAT(text("log"), EndsWith("] STEPS: step 2\n"));
    EXPECT_THAT(text("log"), Not(HasSubstr("step 1")));
    log.set_topic(Log::Topic::Agent, true);
    EXPECT_EQ(log.topics(), "Agent,Steps");
    EXPECT_FALSE(Log::find_topic("weather"));
}

TEST_F(LogTest, ATopicMayHaveAFileOfItsOwn) {
    Log log;
    ASSERT_TRUE(log.open(path("log")));
    log.set_topic(Log::Topic::Scheduler, true);
    ASSERT_TRUE(log.divert(Log::Topic::Scheduler, path("sched")));
    log.about(Log::Topic::Scheduler, "first");
    std::filesystem::rename(path("sched"), path("sched.1"));
    ASSERT_TRUE(log.reopen());
    log.about(Log::Topic::Scheduler, "second");
    EXPECT_THAT(text("sched.1"), EndsWith("] sched: first\n"));
    EXPECT_THAT(text("sched"), EndsWith("] sched: second\n"));
    EXPECT_EQ(text("log"), "");
    ASSERT_TRUE(log.divert(Log::Topic::Scheduler, ""));
    log.about(Log::Topic::Scheduler, "third");
    EXPECT_THAT(text("log"), EndsWith("] sched: third\n"));
}

TEST_F(LogTest, AFileThatWasMovedAwayIsBegunAnew) {
    Log log;
    ASSERT_TRUE(log.open(path("log")));
    log.info("first");
    std::filesystem::rename(path("log"), path("log.1"));
    log.info("second");
    ASSERT_TRUE(log.reopen());
    log.info("third");
    EXPECT_THAT(text("log.1"), EndsWith("second\n"));
    EXPECT_THAT(text("log"), EndsWith("third\n"));
    EXPECT_THAT(text("log"), Not(HasSubstr("second")));
}

TEST_F(LogTest, AFileThatCannotBeOpenedIsNamed) {
    Log log;
    const Status opened = log.open(path("nowhere/log"));
    ASSERT_FALSE(opened);
    EXPECT_THAT(opened.error().message, HasSubstr("nowhere/log: No such file or directory"));
}

TEST_F(LogTest, WhatLibrariesSayOnStandardErrorIsInTheFile) {
    // In a process of its own: its standard error is gone afterwards.
    const pid_t child = ::fork();
    if (child == 0) {
        Log log;
        const bool opened = static_cast<bool>(log.open(path("log")));
        log.take_stderr();
        const bool said = ::write(STDERR_FILENO, "a library\n", 10) == 10;
        log.info("the daemon");
        ::_exit(opened && said ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_THAT(text("log"), HasSubstr("a library\n"));
    EXPECT_THAT(text("log"), EndsWith("] the daemon\n"));
}

}  // namespace
}  // namespace switchyard::os
