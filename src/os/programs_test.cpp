// programs_test.cpp: real programs, one after the other and side by side.
#include "os/programs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include "os/files.hpp"

namespace switchyard::os {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ProgramsTest : public testing::Test {
  protected:
    ProgramsTest() {
        std::string name = "/tmp/sy-programs-XXXXXX";
        folder_ = ::mkdtemp(name.data());
    }
    ~ProgramsTest() override { (void)remove_tree(folder_); }

    std::string script(const std::string& name, const std::string& body) {
        const std::string path = folder_ + "/" + name;
        EXPECT_TRUE(write_new_file(path, "#!/bin/sh\n" + body, 0700));
        return path;
    }
    // Its end stops the loop once so many have ended.
    Programs::Done note(std::size_t awaited) {
        return [this, awaited](const Status& status) {
            said_.push_back(status ? "ok" : status.error().message);
            if (said_.size() == awaited) loop_.stop();
        };
    }
    std::string log() {
        const auto text = read_file(folder_ + "/log");
        return text ? *text : "";
    }

    std::string folder_;
    io::Loop loop_;
    Programs programs_{loop_, Programs::Reaping::ByItself};
    std::vector<std::string> said_;
    io::Loop::Timer guard_ = loop_.after(Seconds{60}, [this] {
        ADD_FAILURE() << "nothing ended";
        loop_.stop();
    });
};

TEST_F(ProgramsTest, ThoseOfAnOrderRunOneAfterTheOtherUntilOneFails) {
    const std::string first = script("first", "echo $WORD >> " + folder_ + "/log\n");
    const std::string bad = script("bad", "exit 3\n");
    programs_.add({.programs = {first, first}, .environment = {"WORD=one"}}, note(2));
    programs_.add({.programs = {bad, first}, .environment = {"WORD=two"}}, note(2));
    EXPECT_TRUE(said_.empty());
    loop_.run();
    EXPECT_THAT(said_, testing::UnorderedElementsAre("ok", bad + ": exit code 3"));
    EXPECT_EQ(log(), "one\none\n");
}

TEST_F(ProgramsTest, AnOrderWithoutProgramsIsDoneAndOneThatCannotBeRunIsNot) {
    programs_.add({}, note(2));
    programs_.add({.programs = {folder_ + "/none"}}, note(2));
    loop_.run();
    EXPECT_EQ(said_.front(), "ok");
    EXPECT_THAT(said_.back(), HasSubstr("/none: "));
}

TEST_F(ProgramsTest, OneThatTakesTooLongIsKilledWithWhatItStarted) {
    const std::string slow = script("slow", "sleep 600 & echo $! > " + folder_ + "/log\nwait\n");
    programs_.add({.programs = {slow}, .timeout = Seconds{1}}, note(1));
    loop_.run();
    EXPECT_THAT(said_, ElementsAre(slow + ": timed out"));
    if (!log().empty()) {
        const pid_t child = std::stoi(log());
        for (int i = 0; i < 6000 && ::kill(child, 0) == 0; ++i) ::usleep(10000);
        EXPECT_NE(::kill(child, 0), 0);
    }
}

TEST_F(ProgramsTest, OneThatIsStoppedSaysNothingAndTheNextHasItsTurn) {
    const std::string slow = script("slow", "sleep 600\n");
    const std::string quick = script("quick", "true\n");
    programs_.set_at_once_max(1);
    const auto stopped = programs_.add({.programs = {slow}}, note(1));
    const auto waiting = programs_.add({.programs = {slow}}, note(1));
    programs_.add({.programs = {quick}}, note(1));
    programs_.stop(waiting);
    const auto timer = loop_.after(Millis{50}, [&] { programs_.stop(stopped); });
    loop_.run();
    EXPECT_THAT(said_, ElementsAre("ok"));
}

TEST_F(ProgramsTest, PatternsMeanWhatTheyMatchAndPathsThemselves) {
    script("b", "");
    script("a", "");
    EXPECT_THAT(expand_programs({folder_ + "/[ab]", folder_ + "/none", folder_ + "/x*"}),
                ElementsAre(folder_ + "/a", folder_ + "/b", folder_ + "/none"));
}

}  // namespace
}  // namespace switchyard::os
