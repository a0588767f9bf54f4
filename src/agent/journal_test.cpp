#include "agent/journal.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/limits.hpp"
#include "os/files.hpp"

namespace switchyard::agent {
namespace {

Instant at(std::int64_t seconds) { return Instant{Seconds{seconds}}; }

class JournalTest : public testing::Test {
  protected:
    JournalTest() {
        std::string name = "/tmp/sy-journal-XXXXXX";
        dir = ::mkdtemp(name.data());
    }
    ~JournalTest() override { (void)os::remove_tree(dir); }

    std::string path() const { return dir + "/journal"; }
    Journal open(Instant now = at(1000), const std::string& cluster = "one") {
        Journal journal(log);
        journal.open(path(), cluster, now);
        return journal;
    }

    static constexpr JobKey kJob{JobId{12}, Attempt{0}};
    std::string dir;
    os::Log log;
};

TEST_F(JournalTest, WhatBeganIsKnownToTheNextAgentUnderItsSubmissionTime) {
    open().begin(kJob, {.submitted = at(900), .began = at(901)});
    const Journal next = open();
    ASSERT_NE(next.find(kJob, at(900)), nullptr);
    EXPECT_EQ(next.find(kJob, at(900))->began, at(901));
    EXPECT_FALSE(next.find(kJob, at(900))->end);
    EXPECT_EQ(next.find(kJob, at(899)), nullptr) << "a job of the same id in another life";
    EXPECT_EQ(next.find({JobId{12}, Attempt{1}}, at(900)), nullptr)
        << "a requeued job is another run";
}

TEST_F(JournalTest, AnEndIsKeptAsItWas) {
    const Journal::End end{.at = at(950), .exit = {.code = 3, .signal = 9}, .timed_out = true};
    {
        Journal journal = open();
        journal.begin(kJob,
                      {.submitted = at(900), .began = at(901), .array = JobId{10}, .element = 7});
        journal.end(kJob, end);
        journal.end(kJob, {.at = at(960), .exit = {}});
    }
    const Journal next = open();
    EXPECT_EQ(next.find(kJob, at(900))->end, end) << "the first word is the last";
    EXPECT_EQ(next.find(kJob, at(900))->array, JobId{10});
    EXPECT_EQ(next.find(kJob, at(900))->element, 7u);
}

TEST_F(JournalTest, AnotherClusterBeginsAnew) {
    open().begin(kJob, {.submitted = at(900), .began = at(901)});
    EXPECT_TRUE(open(at(1000), "two").scripts().empty());
    EXPECT_TRUE(open().scripts().empty());
}

TEST_F(JournalTest, ATornLineAndBadLinesAreIgnored) {
    open().begin(kJob, {.submitted = at(900), .began = at(901)});
    const auto text = os::read_file(path());
    ASSERT_TRUE(text);
    ASSERT_TRUE(os::write_new_file(path(), *text + "13 x 0 0 0 0\n14 0\n15 0 90000", 0600));
    Journal journal = open();
    EXPECT_EQ(journal.scripts().size(), 1u);
    journal.begin({JobId{16}, Attempt{0}}, {.submitted = at(900), .began = at(901)});
    EXPECT_EQ(open().scripts().size(), 2u) << "what is written after a torn line can be read";
}

TEST_F(JournalTest, OnlyItsOwnerReadsItAndALinkInItsPlaceIsNotFollowed) {
    const std::string target = dir + "/target";
    ASSERT_TRUE(os::write_new_file(target, "precious", 0644));
    ASSERT_EQ(::symlink(target.c_str(), path().c_str()), 0);
    ASSERT_EQ(::symlink(target.c_str(), (path() + ".new").c_str()), 0);
    open().begin(kJob, {.submitted = at(900), .began = at(901)});
    EXPECT_EQ(*os::read_file(target), "precious");
    struct stat facts{};
    ASSERT_EQ(::lstat(path().c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode, S_IFREG | 0600u);
}

TEST_F(JournalTest, ASpoolThatIsEmptiedUnderARunningAgentIsWrittenAgain) {
    Journal journal = open();
    journal.begin(kJob, {.submitted = at(900), .began = at(901)});
    ASSERT_EQ(::unlink(path().c_str()), 0);
    journal.begin({JobId{13}, Attempt{0}}, {.submitted = at(900), .began = at(901)});
    EXPECT_EQ(open().scripts().size(), 2u);
}

TEST_F(JournalTest, WhatIsOldOrTooMuchIsForgottenButNeverWhatRuns) {
    const std::uint32_t many = 4 * limits::kJournalScriptsMax;
    Journal journal = open();
    journal.begin(kJob, {.submitted = at(0), .began = at(0)});
    for (std::uint32_t id = 100; id < 100 + many; ++id) {
        journal.begin({JobId{id}, Attempt{0}}, {.submitted = at(1000), .began = at(1000 + id)});
        journal.end({JobId{id}, Attempt{0}}, {.at = at(1000 + id), .exit = {}});
    }
    EXPECT_LE(journal.scripts().size(), 2 * limits::kJournalScriptsMax);
    const Journal next = open(at(1000 + many));
    EXPECT_EQ(next.scripts().size(), limits::kJournalScriptsMax + 1);
    EXPECT_NE(next.find(kJob, at(0)), nullptr);
    EXPECT_NE(next.find({JobId{99 + many}, Attempt{0}}, at(1000)), nullptr) << "the newest stay";
    const Journal later = open(at(1000 + many) + std::chrono::days{limits::kJournalDaysMax + 1});
    EXPECT_EQ(later.scripts().size(), 1u);
}

TEST_F(JournalTest, WhatDoesNotLiveAnyMoreIsLost) {
    Journal journal = open();
    const JobKey other{JobId{13}, Attempt{0}};
    journal.begin(kJob, {.submitted = at(900), .began = at(901)});
    journal.begin(other, {.submitted = at(900), .began = at(901)});
    journal.end_all_but({other}, at(950));
    EXPECT_TRUE(journal.find(kJob, at(900))->end->lost);
    EXPECT_FALSE(journal.find(other, at(900))->end);
}

}  // namespace
}  // namespace switchyard::agent
