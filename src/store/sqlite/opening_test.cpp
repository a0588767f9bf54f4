// Goal: a database that is not what the cluster wrote last is never taken for it, and no job id is
// given twice, whatever became of the file.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "store/sqlite/database.hpp"
#include "store/sqlite/mark.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace switchyard::store {
namespace {

using testing::HasSubstr;

class OpeningTest : public testing::Test {
  protected:
    OpeningTest() {
        char name[] = "/tmp/opening-test-XXXXXX";
        folder_ = ::mkdtemp(name);
        path_ = folder_ + "/switchyard.db";
    }
    ~OpeningTest() override { std::filesystem::remove_all(folder_); }

    std::unique_ptr<Store> open(Opening opening = Opening::Usual) {
        auto store = open_sqlite(path_, {.opening = opening});
        EXPECT_TRUE(store) << store.error().message;
        return store ? *std::move(store) : nullptr;
    }
    std::string refusal(const SqliteOptions& options = {}) {
        auto store = open_sqlite(path_, options);
        return store ? "opened" : store.error().message;
    }
    static model::Job job(std::uint32_t id) {
        model::JobSpec spec;
        spec.user = "alice";
        model::Job out;
        out.id = JobId{id};
        out.spec = std::make_shared<const model::JobSpec>(std::move(spec));
        out.submitted = Instant{Seconds{1000 + id}};
        return out;
    }
    static Batch submission(std::uint32_t id) {
        Batch batch;
        batch.rows.push_back(RowEncoder().row(job(id)));
        batch.next_job_id = JobId{id + 1};
        return batch;
    }
    // All that a controller does, in a process of its own that ends without a word.
    void killed(const std::vector<std::uint32_t>& ids) {
        const pid_t child = ::fork();
        if (child == 0) {
            auto store = open_sqlite(path_);
            bool good = bool(store);
            for (const std::uint32_t id : ids)
                good = good && bool((*store)->commit(submission(id)));
            ::_exit(good ? 0 : 1);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        ASSERT_EQ(status, 0);
    }
    void backup() { copy(path_, folder_ + "/backup"); }
    void put_back() {
        for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + suffix);
        copy(folder_ + "/backup", path_);
    }
    static void copy(const std::string& from, const std::string& to) {
        std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing);
    }
    std::string folder_, path_;
};

TEST_F(OpeningTest, AMarkIsReadAsItWasWrittenAndNothingElseIs) {
    const Mark mark{.identity = 1234567890123456789,
                    .epoch = 3,
                    .commits = 99,
                    .next_job = 17,
                    .jobs_below = 10017,
                    .closed = true};
    EXPECT_EQ(parse_mark(to_text(mark)), mark);
    EXPECT_EQ(to_text(mark).size(), to_text(Mark{}).size());
    for (const char* bad :
         {"", "\n", "epoch=1", "identity=x epoch=1 commits=1 next_job=1 jobs_below=1"})
        EXPECT_EQ(parse_mark(bad), std::nullopt) << bad;
}

TEST_F(OpeningTest, AMissingOrEmptyDatabaseIsRefusedWhereThereWasOne) {
    EXPECT_THAT(refusal({.has_run_before = true}), HasSubstr("is missing or empty"));
    ASSERT_TRUE(open()->commit(submission(5)));
    std::filesystem::remove(path_);
    EXPECT_THAT(refusal(), HasSubstr("slurmctld -c starts with an empty queue"));
    std::filesystem::resize_file(folder_ + "/switchyard.db.lock", 0);
    const io::Fd empty(::open(path_.c_str(), O_CREAT | O_WRONLY, 0600));
    EXPECT_THAT(refusal(), HasSubstr("is missing or empty"));
    EXPECT_THAT(refusal({.opening = Opening::Restored}), HasSubstr("is missing or empty"));
    // Meant: the queue is empty, and ids go on.
    EXPECT_EQ(open(Opening::Cleared)->load()->next_job_id, JobId{6});
}

TEST_F(OpeningTest, AnOlderDatabaseIsRefusedUnlessItIsMeant) {
    ASSERT_TRUE(open()->commit(submission(5)));
    backup();
    ASSERT_TRUE(open()->commit(submission(6)));
    put_back();
    EXPECT_THAT(refusal(), HasSubstr("is older than what this cluster has written"));
    {
        auto store = open(Opening::Restored);
        const auto loaded = store->load();
        EXPECT_EQ(loaded->next_job_id, JobId{7});
        EXPECT_EQ(loaded->epoch, 3u);
        EXPECT_TRUE(loaded->restored);
    }
    // Until it is said that all has been asked.
    {
        auto store = open();
        EXPECT_TRUE(store->load()->restored);
        Batch batch;
        batch.restore_is_over = true;
        ASSERT_TRUE(store->commit(batch));
    }
    EXPECT_FALSE(open()->load()->restored);
}

TEST_F(OpeningTest, AnOlderDatabaseIsKnownAfterAKillWithoutNewJobsToo) {
    killed({5});
    auto copied = Database::open(path_, true);
    ASSERT_TRUE(copied->execute("VACUUM INTO '" + folder_ + "/backup'"));
    killed({5});  // The same job in another state.
    put_back();
    EXPECT_THAT(refusal(), HasSubstr("is older"));
    const auto loaded = open(Opening::Restored)->load();
    // After a kill nobody knows how far the ids went, only where they did not.
    EXPECT_GE(loaded->next_job_id->value, 6u);
    EXPECT_LE(loaded->next_job_id->value, 20'000u);
}

TEST_F(OpeningTest, ADatabaseOfAnotherLifeIsRefused) {
    ASSERT_TRUE(open()->commit(submission(5)));
    backup();
    std::filesystem::remove(path_);
    (void)open(Opening::Cleared);
    put_back();
    EXPECT_THAT(refusal(), HasSubstr("is another one than this cluster used last"));
}

TEST_F(OpeningTest, AKilledControllersDatabaseIsTakenWithItsIds) {
    killed({5, 6, 7});
    auto store = open();
    EXPECT_EQ(store->load()->next_job_id, JobId{8});
    EXPECT_FALSE(store->load()->ended_well);
    store.reset();
    EXPECT_TRUE(open()->load()->ended_well);
}

TEST_F(OpeningTest, ADatabaseFromBeforeTheMarkIsTaken) {
    ASSERT_TRUE(open()->commit(submission(5)));
    {
        auto database = Database::open(path_, true);
        ASSERT_TRUE(
            database->execute("DELETE FROM counters WHERE name IN ('identity', 'commits')"));
    }
    std::filesystem::remove(path_ + ".mark");
    auto store = open_sqlite(path_, {.has_run_before = true});
    ASSERT_TRUE(store) << store.error().message;
    EXPECT_EQ((*store)->load()->next_job_id, JobId{6});
}

TEST_F(OpeningTest, TheLogIsFoldedBackAtTheEnd) {
    auto store = open();
    auto reader = store->open_reader();
    ASSERT_TRUE(store->commit(submission(5)));
    EXPECT_GT(std::filesystem::file_size(path_ + "-wal"), 0u);
    store.reset();
    EXPECT_TRUE(!std::filesystem::exists(path_ + "-wal") ||
                std::filesystem::file_size(path_ + "-wal") == 0);
}

TEST_F(OpeningTest, DamagedPagesAreRefusedWithWhatToDo) {
    {
        auto store = open();
        for (std::uint32_t id = 1; id < 400; ++id) ASSERT_TRUE(store->commit(submission(id)));
    }
    const auto size = std::filesystem::file_size(path_);
    const io::Fd file(::open(path_.c_str(), O_WRONLY));
    const std::string noise(8192, '\x5a');
    ASSERT_EQ(::pwrite(file.get(), noise.data(), noise.size(),
                       static_cast<off_t>(size / 8192 / 2 * 8192)),
              8192);
    EXPECT_THAT(refusal(), HasSubstr("is damaged"));
    EXPECT_THAT(refusal(), HasSubstr("slurmctld --restore"));
    ASSERT_EQ(::pwrite(file.get(), noise.data(), noise.size(), 0), 8192);
    EXPECT_THAT(refusal(), HasSubstr("is damaged"));
}

TEST_F(OpeningTest, AJobInQuarantineIsNotLoadedAndComesBack) {
    {
        auto store = open();
        Batch batch = submission(5);
        batch.put_payload(JobId{5}, std::make_shared<const std::string>("script"));
        ASSERT_TRUE(store->commit(batch));
        ASSERT_TRUE(store->commit(submission(6)));
        ASSERT_TRUE(store->set_aside(JobId{6}));
        ASSERT_TRUE(store->set_aside(JobId{5}));
        EXPECT_EQ(store->set_aside(JobId{5}).error().message, "job 5 is not in the database");
    }
    const auto ids = [&](Store& store) {
        std::vector<std::uint32_t> out;
        EXPECT_TRUE(store.load_jobs(
            {}, [&](model::Job each, const auto&) { out.push_back(each.id.value); }));
        return out;
    };
    auto store = open();
    EXPECT_EQ(store->load()->next_job_id, JobId{7});
    EXPECT_TRUE(ids(*store).empty());
    EXPECT_EQ(*store->payload(JobId{5}), std::nullopt);
    ASSERT_TRUE(store->put_back(JobId{5}));
    EXPECT_EQ(ids(*store), std::vector<std::uint32_t>{5});
    EXPECT_EQ(*store->payload(JobId{5}), "script");
    EXPECT_EQ(store->put_back(JobId{5}).error().message, "job 5 is not in quarantine");
}

TEST_F(OpeningTest, ARecordThatCannotBeReadIsNamed) {
    ASSERT_TRUE(open()->commit(submission(5)));
    {
        auto database = Database::open(path_, true);
        ASSERT_TRUE(database->execute("UPDATE jobs SET record = x'ffffff' WHERE id = 5"));
    }
    const Status loaded = open()->load_jobs({}, [](auto, auto) {});
    ASSERT_FALSE(loaded);
    EXPECT_THAT(loaded.error().message, HasSubstr("job 5: "));
    EXPECT_THAT(loaded.error().message, HasSubstr("`slurmctld --quarantine 5` sets it aside"));
}

TEST_F(OpeningTest, JobsThatAreLeftOutOfABatchAreNotWrittenButTheirIdsAreGone) {
    auto store = open();
    Batch batch = submission(5);
    batch.rows.push_back(RowEncoder().row(job(4)));
    batch.put_payload(JobId{5}, std::make_shared<const std::string>("script"));
    leave_out(batch, {JobId{5}});
    ASSERT_TRUE(store->commit(batch));
    EXPECT_EQ(*store->payload(JobId{5}), std::nullopt);
    EXPECT_EQ(store->load()->next_job_id, JobId{6});
}

}  // namespace
}  // namespace switchyard::store
