// Goal: what commit() acknowledged is there after anything, and what it did not acknowledge was
// reported.
#include "store/sqlite/sqlite_store.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <thread>

#include "store/sqlite/database.hpp"
#include "wire/proto/model.pb.h"

namespace switchyard::store {
namespace {

class StoreTest : public testing::Test {
  protected:
    StoreTest() {
        char name[] = "/tmp/store-test-XXXXXX";
        folder_ = ::mkdtemp(name);
        path_ = folder_ + "/switchyard.db";
    }
    ~StoreTest() override { std::filesystem::remove_all(folder_); }

    std::unique_ptr<Store> open() {
        auto store = open_sqlite(path_);
        EXPECT_TRUE(store) << store.error().message;
        return *std::move(store);
    }
    std::string folder_, path_;
};

constexpr Instant at(std::int64_t seconds) { return Instant{Seconds{seconds}}; }

model::Job job(std::uint32_t id, const std::string& user = "alice",
               const std::string& name = "train") {
    model::JobSpec spec;
    spec.name = name;
    spec.user = user;
    spec.uid = user == "alice" ? 1001 : 1002;
    spec.tasks = 4;
    model::Job out;
    out.id = JobId{id};
    out.spec = std::make_shared<const model::JobSpec>(std::move(spec));
    out.partition = "debug";
    out.submitted = at(1000 + id);
    return out;
}

model::NodeGrant grant(const std::string& node, std::uint32_t first, std::uint32_t last) {
    model::NodeGrant out;
    out.node = node;
    out.cores = model::IndexSet::range(first, last);
    out.cpus = last - first + 1;
    return out;
}

model::Job ended(std::uint32_t id, Instant when, const std::string& user = "alice",
                 const std::string& name = "train") {
    model::Job out = job(id, user, name);
    model::Running run;
    run.started = when - Seconds{10};
    run.allocation.nodes.push_back(grant("n1", 0, 3));
    out.phase = model::Ended{.run = run, .ended = when, .outcome = {}};
    return out;
}

template <class Record>
void put(Batch& batch, const Record& record) {
    batch.rows.push_back(RowEncoder().row(record));
}

Batch batch_of(const std::vector<model::Job>& jobs) {
    Batch batch;
    for (const model::Job& one : jobs) put(batch, one);
    return batch;
}

// A record of that kind went.
template <class Kept, class Key>
Batch gone(Kept model::RecordChanges::* kind, const Key& key) {
    model::RecordChanges changes;
    (changes.*kind).insert(key);
    RowEncoder encoder;
    Batch batch;
    batch.add(changes, encoder);
    return batch;
}

model::PartitionRecord deleted(const std::string& name) {
    model::PartitionRecord record{.partition = {}, .deleted = true};
    record.partition.name = name;
    return record;
}

void put_payload(Batch& batch, std::uint32_t id, std::string text) {
    batch.put_payload(JobId{id}, std::make_shared<const std::string>(std::move(text)));
}

// What a controller that starts would take up.
struct TakenUp {
    std::vector<model::Job> jobs;
    std::vector<model::Step> steps;
};
TakenUp take_up(Store& store, Instant ended_since) {
    TakenUp taken;
    const Status status =
        store.load_jobs(ended_since, [&](model::Job job, std::vector<model::Step> steps) {
            taken.jobs.push_back(std::move(job));
            std::ranges::move(steps, std::back_inserter(taken.steps));
        });
    EXPECT_TRUE(status) << status.error().message;
    return taken;
}
std::vector<model::Job> jobs_of(Store& store, Instant ended_since) {
    return take_up(store, ended_since).jobs;
}

std::vector<std::uint32_t> ids_of(const std::vector<model::Job>& jobs) {
    std::vector<std::uint32_t> out;
    for (const model::Job& one : jobs) out.push_back(one.id.value);
    return out;
}

std::vector<std::uint32_t> find(Reader& reader, const HistoryQuery& query) {
    const auto found = reader.find(query);
    EXPECT_TRUE(found);
    std::vector<std::uint32_t> out;
    for (const JobId id : *found) out.push_back(id.value);
    return out;
}

using Ids = std::vector<std::uint32_t>;

TEST_F(StoreTest, ANewStoreIsEmptyAndCountsItsOpenings) {
    EXPECT_EQ(open()->load()->epoch, 1u);
    auto store = open();
    const auto loaded = store->load();
    EXPECT_EQ(loaded->epoch, 2u);
    EXPECT_TRUE(jobs_of(*store, at(0)).empty());
    EXPECT_FALSE(loaded->next_job_id);
}

TEST_F(StoreTest, TheNextIdIsToldByTheLastJobEvenIfItIsPurged) {
    auto store = open();
    Batch batch = batch_of({ended(7, at(100))});
    batch.next_job_id = JobId{8};
    ASSERT_TRUE(store->commit(batch));
    EXPECT_EQ(store->load()->next_job_id, JobId{8});
    Batch purge;
    purge.purge = Purge{.jobs_before = 400, .steps_before = std::nullopt};
    ASSERT_TRUE(store->commit(purge));
    EXPECT_TRUE(jobs_of(*store, at(0)).empty());
    EXPECT_EQ(store->load()->next_job_id, JobId{8});
    Batch unused;  // Ids that were given to nobody.
    unused.next_job_id = JobId{20};
    ASSERT_TRUE(store->commit(unused));
    EXPECT_EQ(store->load()->next_job_id, JobId{20});
}

TEST_F(StoreTest, RecordsComeBackAsTheyWere) {
    const model::Job running = [] {
        model::Job out = job(7);
        model::Running run;
        run.started = at(2000) + Millis{123};
        run.ends_by = at(3000);
        run.allocation.nodes.push_back(grant("n2", 1, 2));
        out.phase = run;
        return out;
    }();
    model::Step step;
    step.key = {JobId{7}, Attempt{0}, StepId{0}};
    step.spec.name = "hostname";
    step.started = at(2001);
    model::Node node;
    node.config.name = "n2";
    node.drain = true;
    node.mark = model::NodeMark{.reason = "bad fan", .by = "root", .at = at(5)};
    model::Partition partition;
    partition.name = "night";
    partition.nodes = {"n1", "n2"};

    Batch batch = batch_of({running});
    put(batch, step);
    put(batch, node);
    put(batch, model::PartitionRecord{partition, false});
    put(batch, deleted("day"));
    batch.next_job_id = JobId{8};
    model::Trigger trigger;
    trigger.id = 3;
    trigger.user = "alice";
    trigger.program = "/bin/tell";
    trigger.fired = {at(77), "n[1-2]"};
    model::RecordChanges set;
    set.triggers.put(3, std::make_shared<const model::Trigger>(trigger));
    RowEncoder encoder;
    batch.add(set, encoder);
    put_payload(batch, 7, std::string("#!/bin/sh\0true", 14));
    ASSERT_TRUE(open()->commit(batch));

    auto store = open();
    const auto loaded = store->load();
    ASSERT_TRUE(loaded) << loaded.error().message;
    const TakenUp taken = take_up(*store, at(0));
    ASSERT_EQ(taken.jobs.size(), 1u);
    EXPECT_EQ(taken.jobs[0], running);
    ASSERT_EQ(taken.steps.size(), 1u);
    EXPECT_EQ(taken.steps[0], step);
    ASSERT_EQ(loaded->nodes.size(), 1u);
    EXPECT_EQ(loaded->nodes[0].mark, node.mark);
    EXPECT_TRUE(loaded->nodes[0].drain);
    EXPECT_EQ(loaded->partitions,
              (std::vector{deleted("day"), model::PartitionRecord{partition, false}}));
    EXPECT_EQ(loaded->next_job_id, JobId{8});
    EXPECT_EQ(*store->payload(JobId{7}), std::string("#!/bin/sh\0true", 14));
    EXPECT_EQ(*store->payload(JobId{6}), std::nullopt);
    ASSERT_EQ(loaded->triggers.size(), 1u);
    EXPECT_EQ(loaded->triggers[0], trigger);
    ASSERT_TRUE(store->commit(gone(&model::RecordChanges::triggers, 3u)));
    EXPECT_TRUE(store->load()->triggers.empty());
    // Its number is not given again, and an older one that changes does not bring it back.
    EXPECT_EQ(store->load()->last_trigger_id, 3u);
    trigger.id = 2;
    Batch older;
    put(older, trigger);
    older.last_trigger_id = 2;
    ASSERT_TRUE(store->commit(older));
    EXPECT_EQ(store->load()->last_trigger_id, 3u);
}

TEST_F(StoreTest, ReservationsComeBackUntilTheyAreDeleted) {
    model::Reservation reservation;
    reservation.id = 3;
    reservation.name = "maint";
    reservation.start = at(4000);
    reservation.end = at(5000);
    reservation.nodes = {"n2"};
    reservation.users = {{"root", {0}}};
    Batch batch;
    put(batch, reservation);
    batch.next_reservation_id = 4;
    ASSERT_TRUE(open()->commit(batch));

    auto store = open();
    const auto loaded = store->load();
    ASSERT_TRUE(loaded) << loaded.error().message;
    ASSERT_EQ(loaded->reservations.size(), 1u);
    EXPECT_EQ(loaded->reservations[0], reservation);
    EXPECT_EQ(loaded->next_reservation_id, 4u);
    ASSERT_TRUE(store->commit(gone(&model::RecordChanges::reservations, "maint")));
    EXPECT_TRUE(store->load()->reservations.empty());
}

TEST_F(StoreTest, WhatAStepOfAsyncRunsStaysUntilItIsDeleted) {
    const StepKey first{JobId{7}, Attempt{1}, StepId{0}}, second{JobId{7}, Attempt{1}, StepId{1}};
    const auto launch = [](const char* text) { return std::make_shared<const std::string>(text); };
    Batch batch;
    batch.put_step_launch(second, launch("two"));
    batch.put_step_launch(first, launch("one"));
    ASSERT_TRUE(open()->commit(batch));
    auto store = open();
    const auto loaded = store->load();
    ASSERT_EQ(loaded->step_launches.size(), 2u);
    EXPECT_EQ(*loaded->step_launches.at(first), "one");
    EXPECT_EQ(*loaded->step_launches.at(second), "two");
    Batch over;
    over.drop_step_launch(first);
    ASSERT_TRUE(store->commit(over));
    ASSERT_EQ(store->load()->step_launches.size(), 1u);
    EXPECT_TRUE(store->load()->step_launches.contains(second));
}

TEST_F(StoreTest, ALaterRecordReplacesAnEarlierOneButTheFirstPayloadStays) {
    auto store = open();
    Batch first = batch_of({job(1)});
    put_payload(first, 1, "first");
    Batch second = batch_of({ended(1, at(50))});
    put_payload(second, 1, "second");
    ASSERT_TRUE(store->commit(first));
    ASSERT_TRUE(store->commit(second));
    EXPECT_TRUE(model::is_finished(jobs_of(*store, at(0)).at(0)));
    EXPECT_EQ(*store->payload(JobId{1}), "first");
}

TEST_F(StoreTest, LoadsWhatHasNotEndedOrEndedRecentlyAndDropsOtherPayloads) {
    auto store = open();
    model::Job requeued = job(3);
    requeued.attempt = Attempt{1};
    Batch batch = batch_of({ended(1, at(100)), ended(2, at(200)), requeued});
    for (const std::uint32_t id : {1u, 2u, 3u}) {
        model::Step step;
        step.key = {JobId{id}, Attempt{0}, kBatchStep};
        put(batch, step);
        put_payload(batch, id, "script");
    }
    ASSERT_TRUE(store->commit(batch));
    const TakenUp taken = take_up(*store, at(150));
    EXPECT_EQ(ids_of(taken.jobs), (Ids{2, 3}));
    EXPECT_EQ(taken.steps.size(), 2u);
    EXPECT_EQ(*store->payload(JobId{1}), std::nullopt);
    EXPECT_EQ(*store->payload(JobId{2}), "script");
    // What ended since is found without a look at what was dropped before.
    EXPECT_EQ(ids_of(take_up(*store, at(250)).jobs), (Ids{3}));
    EXPECT_EQ(*store->payload(JobId{2}), std::nullopt);
    EXPECT_EQ(*store->payload(JobId{3}), "script");
}

TEST_F(StoreTest, AnArraysPayloadStaysWhileAnyElementDoes) {
    auto store = open();
    model::Job first = ended(5, at(100)), second = job(6);
    first.array.emplace().array_id = second.array.emplace().array_id = JobId{5};
    Batch batch = batch_of({first, second});
    put_payload(batch, 5, "script");
    ASSERT_TRUE(store->commit(batch));
    EXPECT_EQ(ids_of(take_up(*store, at(200)).jobs), (Ids{6}));
    EXPECT_EQ(*store->payload(JobId{5}), "script");
}

TEST_F(StoreTest, AJobThatStillCompletesIsLoadedHoweverLongAgoItEnded) {
    model::Job completing = job(1);
    model::Completing phase;
    phase.ended = at(10);
    phase.dirty_nodes = {"n1"};
    completing.phase = phase;
    auto store = open();
    ASSERT_TRUE(store->commit(batch_of({completing})));
    EXPECT_EQ(ids_of(jobs_of(*store, at(1000))), (Ids{1}));
}

TEST_F(StoreTest, PartitionsAreDeletedRememberedAndReset) {
    auto store = open();
    model::Partition partition;
    partition.name = "p";
    Batch make;
    put(make, model::PartitionRecord{partition, false});
    Batch drop;
    put(drop, deleted("p"));
    const Batch reset = gone(&model::RecordChanges::partitions, "p");
    ASSERT_TRUE(store->commit(make));
    ASSERT_TRUE(store->commit(drop));
    EXPECT_EQ(store->load()->partitions, std::vector{deleted("p")});
    ASSERT_TRUE(store->commit(reset));
    EXPECT_TRUE(store->load()->partitions.empty());
}

TEST_F(StoreTest, HistoryFiltersByTimeUserNameAndId) {
    auto store = open();
    model::Job element = ended(5, at(500), "bob", "sweep");
    element.array.emplace();
    element.array->array_id = JobId{40};
    element.array->element = 3;
    ASSERT_TRUE(store->commit(batch_of({ended(1, at(100)), ended(2, at(200), "bob"),
                                        ended(3, at(300)), job(4, "alice", "late"), element})));
    auto reader = *store->open_reader();
    EXPECT_EQ(find(*reader, {}), (Ids{1, 2, 3, 4, 5}));
    EXPECT_EQ(find(*reader, {.from = at(200)}), (Ids{2, 3, 4, 5}));
    EXPECT_EQ(find(*reader, {.to = at(1002)}), (Ids{1, 2}));
    EXPECT_EQ(find(*reader, {.users = {"bob"}}), (Ids{2, 5}));
    EXPECT_EQ(find(*reader, {.uids = {1001}, .from = at(150)}), (Ids{3, 4}));
    EXPECT_EQ(find(*reader, {.names = {"late", "sweep"}}), (Ids{4, 5}));
    EXPECT_EQ(find(*reader, {.jobs = {JobId{40}, JobId{1}}}), (Ids{1, 5}));
}

TEST_F(StoreTest, HistoryFiltersByHowAndWhereJobsEnded) {
    auto store = open();
    model::Job failed = ended(2, at(200));
    std::get<model::Ended>(failed.phase).outcome.state = model::JobState::Failed;
    model::Job elsewhere = ended(3, at(300));
    elsewhere.partition = "gpu";
    model::Job leaving = ended(5, at(400));
    model::Completing completing;
    completing.ended = at(400);
    leaving.phase = completing;
    ASSERT_TRUE(store->commit(batch_of({ended(1, at(100)), failed, elsewhere, job(4), leaving})));
    auto reader = *store->open_reader();
    // Of jobs that have not ended, memory decides.
    EXPECT_EQ(find(*reader, {.states = {"FAILED"}}), (Ids{2, 4, 5}));
    EXPECT_EQ(find(*reader, {.partitions = {"gpu"}}), (Ids{3, 4, 5}));
    EXPECT_EQ(find(*reader, {.states = {"FAILED"}, .ended_only = true}), (Ids{2, 5}));
    EXPECT_EQ(find(*reader, {.to = at(250), .ended_only = true}), (Ids{1, 2}));
}

TEST_F(StoreTest, EarlierRunsOfARequeuedJobAreKept) {
    auto store = open();
    model::Job first = ended(1, at(100));
    model::Job now = job(1);
    now.attempt = Attempt{1};
    Batch batch = batch_of({now, ended(2, at(150))});
    batch.rows.push_back(RowEncoder().past_run(first));
    ASSERT_TRUE(store->commit(batch));
    auto reader = *store->open_reader();
    EXPECT_EQ(find(*reader, {.to = at(1000), .past_runs = true}), Ids{});
    EXPECT_EQ(find(*reader, {.to = at(120), .ended_only = true, .past_runs = true}), (Ids{1}));
    const std::vector<JobId> wanted{JobId{1}};
    const auto chunk = reader->fetch(wanted, false, true);
    ASSERT_EQ(chunk->jobs.size(), 2u);
    EXPECT_EQ(chunk->jobs[0], first);
    EXPECT_EQ(chunk->jobs[1], now);
    EXPECT_EQ(reader->fetch(wanted, false)->jobs.size(), 1u);
    EXPECT_EQ(jobs_of(*store, at(0)).size(), 2u);
}

TEST_F(StoreTest, WhatEndedLongAgoIsPurgedWithItsStepsAndPayload) {
    auto store = open();
    Batch batch;
    for (std::uint32_t id = 1; id <= 5000; ++id) {
        put(batch, ended(id, at(100 + id % 2)));
        model::Step step;
        step.key = {JobId{id}, Attempt{0}, kBatchStep};
        put(batch, step);
    }
    put(batch, ended(6001, at(500)));
    put_payload(batch, 1, "old");
    put_payload(batch, 6001, "young");
    ASSERT_TRUE(store->commit(batch));
    Batch purge;
    purge.purge = Purge{.jobs_before = 400, .steps_before = std::nullopt};
    int rounds = 0;
    do {
        ASSERT_TRUE(store->commit(purge));
        ++rounds;
    } while (store->purge_is_due());
    EXPECT_GT(rounds, 1) << "one commit must not purge without a limit";
    auto reader = *store->open_reader();
    EXPECT_EQ(find(*reader, {}), (Ids{6001}));
    EXPECT_FALSE(reader->payload(JobId{1})->has_value());
    EXPECT_TRUE(reader->payload(JobId{6001})->has_value());
    const std::vector<JobId> gone{JobId{1}};
    EXPECT_TRUE(reader->fetch(gone, true)->steps.empty());
}

TEST_F(StoreTest, StepsMayBePurgedBeforeTheirJobs) {
    auto store = open();
    Batch batch;
    for (std::uint32_t id = 1; id <= 5001; ++id) {
        put(batch, ended(id, at(id == 5001 ? 500 : 100)));
        model::Step step;
        step.key = {JobId{id}, Attempt{0}, kBatchStep};
        put(batch, step);
    }
    ASSERT_TRUE(store->commit(batch));
    Batch purge;
    purge.purge = Purge{.jobs_before = std::nullopt, .steps_before = 400};
    do {
        ASSERT_TRUE(store->commit(purge));
    } while (store->purge_is_due());
    auto reader = *store->open_reader();
    const std::vector<JobId> all = *reader->find({});
    ASSERT_EQ(all.size(), 5001u);
    const auto chunk = reader->fetch(all, true);
    ASSERT_EQ(chunk->steps.size(), 1u);
    EXPECT_EQ(chunk->steps[0].key.job, JobId{5001});
}

TEST_F(StoreTest, AKeptPayloadLosesWhatNobodyAskedToKeep) {
    auto store = open();
    wire::JobPayload whole;
    whole.set_script("#!/bin/sh\n");
    whole.add_environment("SECRET=1");
    Batch batch = batch_of({ended(1, at(100))});
    put_payload(batch, 1, whole.SerializeAsString());
    ASSERT_TRUE(store->commit(batch));
    Batch keep;
    keep.kept_payloads.push_back({.job = JobId{1}, .script = true, .environment = false});
    keep.kept_payloads.push_back({.job = JobId{9}, .script = true, .environment = false});
    ASSERT_TRUE(store->commit(keep));
    wire::JobPayload kept;
    ASSERT_TRUE(kept.ParseFromString(**store->payload(JobId{1})));
    EXPECT_EQ(kept.script(), "#!/bin/sh\n");
    EXPECT_EQ(kept.environment_size(), 0);
}

TEST_F(StoreTest, AReaderSeesWhatWasCommittedAfterItWasOpened) {
    auto store = open();
    auto reader = *store->open_reader();
    Batch batch = batch_of({ended(1, at(100))});
    put_payload(batch, 1, "script");
    model::Step step;
    step.key = {JobId{1}, Attempt{0}, kBatchStep};
    put(batch, step);
    ASSERT_TRUE(store->commit(batch));
    EXPECT_EQ(*reader->payload(JobId{1}), "script");
    const std::vector<JobId> wanted{JobId{1}, JobId{2}};
    const auto chunk = reader->fetch(wanted, true);
    EXPECT_EQ(ids_of(chunk->jobs), (Ids{1}));
    EXPECT_EQ(chunk->steps.size(), 1u);
    EXPECT_TRUE(reader->fetch(wanted, false)->steps.empty());
}

TEST_F(StoreTest, ASecondControllerIsRefusedWithTheFirstOnesProcess) {
    const auto first = open();
    const auto second = open_sqlite(path_);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Errc::Busy);
    EXPECT_NE(second.error().message.find(std::to_string(::getpid())), std::string::npos)
        << second.error().message;
}

TEST_F(StoreTest, ABatchThatFindsNoRoomLeavesNoTraceAndIsTakenWhenThereIsRoom) {
    auto store = *open_sqlite(path_, {.pages_max = 64});
    const auto bulky = [](std::uint32_t id) {
        Batch batch = batch_of({job(id)});
        put_payload(batch, id, std::string(10'000, 'x'));
        return batch;
    };
    std::uint32_t id = 1;
    Status status = store->commit(bulky(id));
    while (id < 1000 && status) status = store->commit(bulky(++id));
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, kFull);
    EXPECT_NE(status.error().message.find("full"), std::string::npos) << status.error().message;
    EXPECT_EQ(store->commit(bulky(id)).error().code, kFull);
    EXPECT_EQ(jobs_of(*store, at(0)).size(), id - 1);

    Batch smaller;
    for (std::uint32_t old = 1; old < 5; ++old) smaller.drop_payload(JobId{old});
    ASSERT_TRUE(store->commit(smaller));
    ASSERT_TRUE(store->commit(bulky(id)));
    store.reset();
    const auto jobs = jobs_of(*open(), at(0));
    ASSERT_EQ(jobs.size(), id);
    for (std::size_t i = 0; i < jobs.size(); ++i) EXPECT_EQ(jobs[i].id.value, i + 1);
}

TEST_F(StoreTest, WhoDoesNotWantToWaitIsToldThatAnotherProcessWrites) {
    auto store = open();
    ASSERT_TRUE(*store->try_commit(batch_of({job(1)})));
    {
        auto other = Database::open(path_, true);
        ASSERT_TRUE(other->execute("BEGIN IMMEDIATE"));
        const auto refused = store->try_commit(batch_of({job(2)}));
        ASSERT_TRUE(refused) << refused.error().message;
        EXPECT_FALSE(*refused);
    }
    ASSERT_TRUE(*store->try_commit(batch_of({job(3)})));
    store.reset();
    EXPECT_EQ(ids_of(jobs_of(*open(), at(0))), (Ids{1, 3}));
}

TEST_F(StoreTest, ALongLogIsCopiedByWhoHasTheTimeForIt) {
    auto store = *open_sqlite(path_, {.log_pages_max = 40});
    std::uint32_t id = 1;
    while (id < 1000 && *store->try_commit(batch_of({job(id)}))) ++id;
    ASSERT_LT(id, 1000u);
    EXPECT_FALSE(*store->try_commit(batch_of({job(id)})));
    ASSERT_TRUE(store->commit(batch_of({job(id)})));
    EXPECT_TRUE(*store->try_commit(batch_of({job(++id)})));
    EXPECT_EQ(jobs_of(*store, at(0)).size(), id);
}

TEST_F(StoreTest, ADatabaseOfANewerProgramIsRefused) {
    open();
    ASSERT_TRUE(
        Database::open(path_, true)->execute("INSERT INTO schema_version (version) VALUES (999)"));
    const auto store = open_sqlite(path_);
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, Errc::Unsupported);
}

// Goal: kill -9 at any moment loses nothing that was acknowledged, and no batch is there by half.
// Method: a child commits batches of two jobs and writes the number of each to a pipe when commit()
// returns.
TEST_F(StoreTest, EveryAcknowledgedBatchSurvivesAKill) {
    std::uint32_t next = 1;
    for (int round = 0; round < 8; ++round) {
        int ends[2];
        ASSERT_EQ(::pipe(ends), 0);
        const pid_t child = ::fork();
        if (child == 0) {
            auto store = open();
            for (std::uint32_t id = next;; id += 2) {
                if (!store->commit(batch_of({job(id), job(id + 1)}))) ::_exit(1);
                if (::write(ends[1], &id, sizeof id) != sizeof id) ::_exit(1);
            }
        }
        ::close(ends[1]);
        std::uint32_t acknowledged = 0;
        for (int i = 0; i < 5 + 7 * round; ++i) {
            ASSERT_EQ(::read(ends[0], &acknowledged, sizeof acknowledged),
                      static_cast<ssize_t>(sizeof acknowledged));
        }
        ::kill(child, SIGKILL);
        int status = 0;
        ::waitpid(child, &status, 0);
        while (::read(ends[0], &acknowledged, sizeof acknowledged) > 0) {
        }
        ::close(ends[0]);

        const auto jobs = jobs_of(*open(), at(0));
        ASSERT_GE(jobs.size(), acknowledged + 1);
        ASSERT_EQ(jobs.size() % 2, 0u);
        for (std::size_t i = 0; i < jobs.size(); ++i) ASSERT_EQ(jobs[i].id.value, i + 1);
        next = static_cast<std::uint32_t>(jobs.size()) + 1;
    }
}

TEST_F(StoreTest, AReaderGoesOnWhileTheStoreCommits) {
    auto store = open();
    ASSERT_TRUE(store->commit(batch_of({job(1)})));
    auto reader = *store->open_reader();
    std::thread writer([&store] {
        for (std::uint32_t id = 2; id < 60; ++id) ASSERT_TRUE(store->commit(batch_of({job(id)})));
    });
    std::size_t seen = 0;
    for (int i = 0; i < 200; ++i) {
        const std::size_t now = find(*reader, {}).size();
        ASSERT_GE(now, seen);
        seen = now;
    }
    writer.join();
    EXPECT_EQ(find(*reader, {}).size(), 59u);
}

}  // namespace
}  // namespace switchyard::store
