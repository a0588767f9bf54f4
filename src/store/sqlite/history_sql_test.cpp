// Goal: no question reads the whole table where an index can serve, by SQLite's own word.
#include "store/sqlite/history_sql.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "store/sqlite/sqlite_store.hpp"

namespace switchyard::store {
namespace {

constexpr Instant at(std::int64_t seconds) { return Instant{Seconds{seconds}}; }

class HistorySqlTest : public testing::Test {
  protected:
    HistorySqlTest() {
        char name[] = "/tmp/history-sql-test-XXXXXX";
        folder_ = ::mkdtemp(name);
        auto made = open_sqlite(folder_ + "/switchyard.db");
        EXPECT_TRUE(made) << made.error().message;
        store_ = *std::move(made);
    }
    ~HistorySqlTest() override { std::filesystem::remove_all(folder_); }

    // How SQLite would find the rows: one line for each table or index it goes through.
    std::string plan(const HistoryQuery& query, HistoryPart part) {
        auto database = Database::open(folder_ + "/switchyard.db", false);
        EXPECT_TRUE(database);
        auto explain = database->prepare("EXPLAIN QUERY PLAN " + history_sql(query, part));
        EXPECT_TRUE(explain) << history_sql(query, part);
        std::string text;
        while (explain->next() == Statement::Step::Row) {
            text += std::string(explain->column_bytes(3)) + "\n";
        }
        return text;
    }
    std::string plan(const HistoryQuery& query) {
        std::string all;
        for (const HistoryPart part : parts_of(query)) all += plan(query, part);
        return all;
    }

    std::string folder_;
    std::unique_ptr<Store> store_;
};

struct Question {
    const char* what;
    HistoryQuery query;
    const char* index;  // A part of the plan of those that have ended.
};

const Question kQuestions[] = {
    {"-j", {.jobs = {JobId{7}}}, "INTEGER PRIMARY KEY"},
    {"-j of an array", {.jobs = {JobId{7}}}, "jobs_by_array (array_id=?)"},
    {"-j -S", {.jobs = {JobId{7}}, .from = at(5)}, "INTEGER PRIMARY KEY"},
    {"-j -D", {.jobs = {JobId{7}}, .past_runs = true}, "past_runs_by_array (array_id=?)"},
    {"-S", {.from = at(5)}, "jobs_by_end (end_time>?"},
    {"-S -E", {.from = at(5), .to = at(9)}, "jobs_by_end (end_time>?"},
    {"-u", {.uids = {7}}, "jobs_by_uid (uid=?"},
    {"-u -S -E", {.uids = {7}, .from = at(5), .to = at(9)}, "jobs_by_uid (uid=? AND end_time>?"},
    {"-u of a name only", {.users = {"a"}, .from = at(5)}, "jobs_by_user (user=? AND end_time>?"},
    {"--name", {.names = {"a"}}, "jobs_by_name (name=?"},
    {"--name -S -E",
     {.names = {"a"}, .from = at(5), .to = at(9)},
     "jobs_by_name (name=? AND end_time>?"},
    {"-s -S -E",
     {.states = {"FAILED"}, .from = at(5), .to = at(9), .ended_only = true},
     "jobs_by_state (state=? AND end_time>?"},
    {"-r -S",
     {.partitions = {"gpu"}, .from = at(5)},
     "jobs_by_partition (partition=? AND end_time>?"},
    {"-D -S", {.from = at(5), .past_runs = true}, "past_runs_by_end (end_time>?"},
};

TEST_F(HistorySqlTest, EveryQuestionIsAnsweredByItsIndex) {
    for (const Question& question : kQuestions) {
        const std::string how = plan(question.query);
        EXPECT_NE(how.find(question.index), std::string::npos) << question.what << ":\n" << how;
        EXPECT_EQ(how.find("SCAN"), std::string::npos) << question.what << ":\n" << how;
        EXPECT_EQ(how.find("TEMP B-TREE"), std::string::npos) << question.what << ":\n" << how;
    }
}

TEST_F(HistorySqlTest, JobsThatHaveNotEndedAreFoundAmongThemselves) {
    for (const Question& question : kQuestions) {
        if (!question.query.jobs.empty()) continue;
        const std::string how = plan(question.query, HistoryPart::Open);
        EXPECT_NE(how.find("jobs_by_end (end_time=?"), std::string::npos) << question.what << how;
    }
}

TEST_F(HistorySqlTest, AWindowIsFoundInTheIndexAlone) {
    const HistoryQuery window{.from = at(5), .to = at(9)};
    HistoryQuery of_user = window;
    of_user.uids = {7};
    for (const HistoryQuery& query : {window, of_user}) {
        const std::string how = plan(query, HistoryPart::Ended);
        EXPECT_NE(how.find("USING COVERING INDEX"), std::string::npos) << how;
    }
}

}  // namespace
}  // namespace switchyard::store
