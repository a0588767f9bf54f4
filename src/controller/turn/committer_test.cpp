// Which thread writes a batch, and that somebody always does.
#include "controller/turn/committer.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace switchyard::controller {
namespace {

// A disk that can be slow, full, or in the hands of another process; it notes who came.
class FakeStore final : public store::Store {
  public:
    struct Visits {
        int here = 0, elsewhere = 0;
        std::size_t rows = 0;
    };
    FakeStore(Visits& visits, Millis slowness) : visits_(visits), slowness_(slowness) {}

    Result<store::Loaded> load() override { return store::Loaded{}; }
    Status load_jobs(Instant, const TakeJob&) override { return {}; }
    bool purge_is_due() const override { return false; }
    Result<std::optional<std::string>> payload(JobId) override {
        return std::optional<std::string>();
    }
    Result<std::unique_ptr<store::Reader>> open_reader() override {
        return fail(Errc::Unsupported);
    }
    Status set_aside(JobId) override { return {}; }
    Status put_back(JobId) override { return {}; }
    Status commit(const store::Batch& batch) override {
        std::this_thread::sleep_for(slowness_);
        if (std::exchange(full_, false)) return fail(store::kFull);
        ++(std::this_thread::get_id() == owner_ ? visits_.here : visits_.elsewhere);
        visits_.rows += batch.size();
        return {};
    }
    Result<bool> try_commit(const store::Batch& batch) override {
        if (busy_) return false;
        SY_CHECK(commit(batch));
        return true;
    }

    bool busy_ = false, full_ = false;

  private:
    Visits& visits_;
    Millis slowness_;
    std::thread::id owner_ = std::this_thread::get_id();
};

class CommitterTest : public testing::Test {
  protected:
    void open(Millis slowness) {
        auto store = std::make_unique<FakeStore>(visits_, slowness);
        store_ = store.get();
        committer_.emplace(loop_, std::move(store), [](const std::string&) {});
    }
    // One after the other, each of so many rows.
    void commit(int times, std::size_t rows = 1) {
        for (int i = 0; i < times; ++i) {
            store::Batch batch;
            for (std::size_t row = 0; row < rows; ++row) batch.drop_payload(JobId{1});
            committer_->commit(std::move(batch), {}, [this](const Committer::Outcome& outcome) {
                EXPECT_TRUE(outcome.status);
                ++done_;
                loop_.stop();
            });
            loop_.run();
        }
    }

    io::Loop loop_;
    FakeStore::Visits visits_;
    FakeStore* store_ = nullptr;
    int done_ = 0;
    std::optional<Committer> committer_;
};

TEST_F(CommitterTest, AQuickDiskIsWrittenWithoutAnotherThread) {
    open(Millis{0});
    commit(200);
    EXPECT_EQ(done_, 200);
    EXPECT_EQ(visits_.rows, 200u);
    // The first shows how quick it is; a busy machine may send some more there.
    EXPECT_GE(visits_.elsewhere, 1);
    EXPECT_GE(visits_.here, 1);
}

TEST_F(CommitterTest, ASlowDiskIsWaitedForByTheStoresThread) {
    open(Millis{2});
    commit(20);
    EXPECT_EQ(visits_.elsewhere, 20);
    EXPECT_EQ(visits_.here, 0);
}

TEST_F(CommitterTest, ALongBatchIsWorthAThread) {
    open(Millis{0});
    commit(50, 1000);
    EXPECT_EQ(visits_.elsewhere, 50);
}

TEST_F(CommitterTest, AnotherProcessThatWritesIsWaitedForByTheStoresThread) {
    open(Millis{0});
    store_->busy_ = true;
    commit(50);
    EXPECT_EQ(visits_.elsewhere, 50);
    EXPECT_EQ(visits_.rows, 50u);
}

TEST_F(CommitterTest, WhatFoundNoRoomIsTriedAgainWhoeverFoundIt) {
    open(Millis{0});
    commit(100);
    store_->full_ = true;
    commit(1);
    EXPECT_EQ(done_, 101);
    EXPECT_EQ(visits_.rows, 101u);
}

}  // namespace
}  // namespace switchyard::controller
