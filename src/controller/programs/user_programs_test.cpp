// Programs run for users: what they are given, whom they hold up, and how they end.
#include "controller/programs/user_programs.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "controller/programs/mailer.hpp"
#include "controller/programs/run_program.hpp"
#include "os/log.hpp"

namespace switchyard::controller {
namespace {

using testing::HasSubstr;

// What UserPrograms starts is this executable: under that name it is not a test.
__attribute__((constructor)) void be_what_we_are_called(int argc, char** argv) {
    if (argc > 0 && argv[0] == kRunProgramName) ::_exit(run_program_main(argc, argv));
}

class UserProgramsTest : public testing::Test {
  protected:
    UserProgramsTest() {
        char name[] = "/tmp/sy-programs-XXXXXX";
        folder_ = ::mkdtemp(name);
        ::chmod(folder_.c_str(), 0777);
    }
    ~UserProgramsTest() override { std::filesystem::remove_all(folder_); }

    std::string script(const std::string& text) {
        const std::string path = folder_ + "/program";
        std::ofstream(path) << "#!/bin/sh\n" << text;
        ::chmod(path.c_str(), 0755);
        return path;
    }
    static ProgramOrder order(std::vector<std::string> argv, std::uint32_t uid = ::getuid()) {
        return {.what = "test",
                .uid = uid,
                .gid = uid == ::getuid() ? ::getgid() : uid,
                .argv = std::move(argv),
                .environment = {"PATH=/usr/bin:/bin", "COLOUR=green"}};
    }
    UserPrograms programs(const ProgramLimits& limits = {}) {
        return UserPrograms(
            loop_,
            [this](const ProgramOrder& ended, const Status& status) {
                ended_.emplace_back(ended.uid, status ? "" : status.error().message);
            },
            limits);
    }
    // Until so many have ended; whatever happens, not for ever.
    void run_until(std::size_t count) {
        const auto deadline = loop_.after(Millis{20'000}, [&] { loop_.stop(); });
        io::Loop::Timer poll;
        const std::function<void()> look = [&] {
            if (ended_.size() >= count) return loop_.stop();
            poll = loop_.after(Millis{1}, look);
        };
        look();
        loop_.run();
        ASSERT_GE(ended_.size(), count);
    }
    std::string read(const std::string& name) {
        std::stringstream text;
        text << std::ifstream(folder_ + "/" + name).rdbuf();
        return text.str();
    }

    std::string folder_;
    io::Loop loop_;
    std::vector<std::pair<std::uint32_t, std::string>> ended_;
};

TEST_F(UserProgramsTest, AProgramHasItsWordsItsVariablesAndNothingOfOurs) {
    // Not at exec: a file that a daemon forgot to mark, a limit it raised, a folder it stands in.
    const int forgotten = ::open("/dev/null", O_RDONLY);
    auto runner = programs();
    const std::string told = script(
        "{ echo \"$@\"; env | sort; pwd; ls /proc/$$/fd; ulimit -Sn; } > " + folder_ + "/told\n");
    ASSERT_TRUE(runner.run(order({told, "one", "two words"})));
    run_until(1);
    ::close(forgotten);
    EXPECT_EQ(ended_[0].second, "");
    const std::string text = read("told");
    EXPECT_THAT(text, HasSubstr("one two words\nCOLOUR=green\nPATH=/usr/bin:/bin\nPWD=/\n/\n"));
    EXPECT_THAT(text, HasSubstr("\n0\n1\n"));
    EXPECT_EQ(text.find("\n" + std::to_string(forgotten) + "\n"), std::string::npos) << text;
}

TEST_F(UserProgramsTest, AProgramThatCannotBeRunIsNamed) {
    auto runner = programs();
    ASSERT_TRUE(runner.run(order({folder_ + "/nothing"})));
    ASSERT_TRUE(runner.run(order({script("exit 3\n")})));
    run_until(2);
    std::ranges::sort(ended_);
    EXPECT_EQ(ended_[0].second, folder_ + "/nothing: No such file or directory");
    EXPECT_EQ(ended_[1].second, folder_ + "/program: exit code 3");
}

TEST_F(UserProgramsTest, AFileWithALeaseHoldsUpNobodyAndEndsInTime) {
    const std::string path = script("true\n");
    const int leased = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    ::signal(SIGIO, SIG_IGN);
    if (::fcntl(leased, F_SETLEASE, F_WRLCK) != 0) GTEST_SKIP() << "no leases on this file system";
    auto runner = programs({.run_time_max = Seconds{1}});
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(runner.run(order({path})));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(900));
    run_until(1);
    ::fcntl(leased, F_SETLEASE, F_UNLCK);
    ::close(leased);
    EXPECT_THAT(ended_[0].second, HasSubstr("took longer than 1 s and was killed"));
}

TEST_F(UserProgramsTest, OneUserLeavesRoomForOthers) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root becomes others";
    auto runner = programs({.at_once_max = 2,
                            .at_once_per_user_max = 1,
                            .waiting_per_user_max = 1,
                            .run_time_max = Seconds{2}});
    ASSERT_TRUE(runner.run(order({"/bin/sleep", "60"}, 2001)));
    ASSERT_TRUE(runner.run(order({"/bin/sleep", "60"}, 2001)));
    const Status third = runner.run(order({"/bin/sleep", "60"}, 2001));
    ASSERT_FALSE(third);
    EXPECT_THAT(third.error().message, HasSubstr("1 programs for uid=2001 wait already"));
    ASSERT_TRUE(runner.run(order({"/bin/true"}, 2002)));
    run_until(1);
    EXPECT_EQ(ended_[0], std::pair(2002u, std::string()));
    run_until(3);  // The first is killed, and so is the one that waited for it.
}

TEST_F(UserProgramsTest, AProgramRunsAsItsUserWithNoGroupOfOurs) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root becomes others";
    auto runner = programs();
    ASSERT_TRUE(runner.run(
        order({script("id -u > " + folder_ + "/who; id -G >> " + folder_ + "/who\n")}, 2001)));
    run_until(1);
    EXPECT_EQ(read("who"), "2001\n2001\n");
}

TEST_F(UserProgramsTest, ALetterHoldsNoControlCharacters) {
    os::Log log{os::Log::Level::Quiet};
    Mailer mailer(loop_, log);
    const std::string told =
        script("{ echo \"$#|$1|$2|$3\"; echo \"$SLURM_JOB_NAME\"; } > " + folder_ + "/new; mv " +
               folder_ + "/new " + folder_ + "/told\n");
    const auto letter = [](const char* to) {
        return ToMail{.mail = {.job = JobId{7},
                               .event = model::MailEvent::End,
                               .to = to,
                               .subject = "Job Name=a\nBcc: bob",
                               .environment = {{"SLURM_JOB_NAME", "a\n~!id"}}},
                      .uid = ::getuid(),
                      .gid = ::getgid()};
    };
    mailer.send(told, "", letter("--exec=!id"));
    mailer.send(told, "", letter("alice"));
    io::Loop::Timer poll;
    const std::function<void()> look = [&] {
        if (!read("told").empty()) return loop_.stop();
        poll = loop_.after(Millis{1}, look);
    };
    look();
    loop_.run();
    EXPECT_EQ(read("told"), "3|-s|Job Name=a?Bcc: bob|alice\na?~!id\n");
}

}  // namespace
}  // namespace switchyard::controller
