// sqlite_store.cpp: the default store: one file, nothing to install.
//
// Write-ahead log with full sync: a commit is one append and one fsync. The lock that keeps a
// second controller out is a file of its own, because SQLite's locks must let the readers and the
// sqlite3 shell in.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/text.hpp"
#include "io/fd.hpp"
#include "io/file_lock.hpp"
#include "store/mark.hpp"
#include "store/opening.hpp"
#include "store/purge.hpp"
#include "store/quarantine.hpp"
#include "store/schema.hpp"
#include "store/sqlite.hpp"
#include "store/sqlite_reader.hpp"
#include "store/sqlite_rows.hpp"
#include "store/store.hpp"
#include "wire/codec.hpp"

namespace switchyard::store {
namespace {

constexpr std::string_view kPragmas =
    // Scripts and environments fill pages of this size well, with fewer writes than small ones.
    "PRAGMA page_size=8192;"
    "PRAGMA journal_mode=WAL;"
    "PRAGMA synchronous=FULL;"
    "PRAGMA temp_store=MEMORY;"
    "PRAGMA cache_size=-16384;";

struct Statements {
    Statement begin, commit, rollback;
    Statement put_job, put_past_run, put_step, put_node, put_partition, put_payload, put_counter;
    Statement delete_node, delete_partition, reset_partition, delete_payload, trim_payload;
    Statement put_trigger, delete_trigger, raise_counter;
    Statement put_reservation, delete_reservation;
    Statement put_step_launch, delete_step_launch, delete_counter;
    Statement payload;
    PurgeStatements purge;
};

Status prepare_all(Database& database, Statements& statements) {
    struct Text {
        Statement Statements::* place;
        std::string_view sql;
    };
    const Text texts[] = {
        {&Statements::begin, "BEGIN IMMEDIATE"},
        {&Statements::commit, "COMMIT"},
        {&Statements::rollback, "ROLLBACK"},
        {&Statements::put_job, "INSERT OR REPLACE INTO jobs VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)"},
        {&Statements::put_past_run,
         "INSERT OR REPLACE INTO past_runs VALUES (?,?,?,?,?,?,?,?,?,?,?,?)"},
        {&Statements::put_step, "INSERT OR REPLACE INTO steps VALUES (?,?,?,?,?,?,?,?,?)"},
        {&Statements::put_node, "INSERT OR REPLACE INTO nodes VALUES (?,?,?,?)"},
        {&Statements::put_partition, "INSERT OR REPLACE INTO partitions VALUES (?,?,0,?)"},
        {&Statements::put_payload, "INSERT OR IGNORE INTO payloads VALUES (?,?)"},
        {&Statements::put_counter, "INSERT OR REPLACE INTO counters VALUES (?,?)"},
        {&Statements::delete_counter, "DELETE FROM counters WHERE name = ?"},
        {&Statements::delete_node, "DELETE FROM nodes WHERE name = ?"},
        {&Statements::delete_partition,
         "INSERT OR REPLACE INTO partitions VALUES (?,'DELETED',1,x'')"},
        {&Statements::reset_partition, "DELETE FROM partitions WHERE name = ?"},
        {&Statements::put_reservation, "INSERT OR REPLACE INTO reservations VALUES (?,?,?,?,?)"},
        {&Statements::delete_reservation, "DELETE FROM reservations WHERE name = ?"},
        {&Statements::delete_payload, "DELETE FROM payloads WHERE job = ?"},
        {&Statements::trim_payload, "UPDATE payloads SET record = ? WHERE job = ?"},
        {&Statements::put_trigger, "INSERT OR REPLACE INTO triggers VALUES (?,?,?,?)"},
        {&Statements::delete_trigger, "DELETE FROM triggers WHERE id = ?"},
        {&Statements::raise_counter,
         "INSERT INTO counters VALUES (?,?) "
         "ON CONFLICT(name) DO UPDATE SET value = max(value, excluded.value)"},
        {&Statements::put_step_launch, "INSERT OR REPLACE INTO step_launches VALUES (?,?,?,?)"},
        {&Statements::delete_step_launch,
         "DELETE FROM step_launches WHERE job = ? AND attempt = ? AND step = ?"},
        {&Statements::payload, kPayloadQuery},
    };
    for (const Text& text : texts) {
        SY_TRY(statements.*text.place, database.prepare(text.sql));
    }
    return prepare(database, statements.purge);
}

std::optional<std::int64_t> number(const std::optional<JobId>& id) {
    if (!id) return std::nullopt;
    return std::int64_t{id->value};
}

// What both tables of jobs have of whose it is and what became of it.
Statement& bind_facts(Statement& to, const JobRow& row) {
    return to.integer(std::int64_t{row.uid})
        .text(std::string_view(row.user))
        .text(std::string_view(row.name))
        .text(std::string_view(row.partition))
        .text(std::string_view(row.state))
        .integer(row.submit_time)
        .integer(row.start_time)
        .integer(row.end_time);
}

bool write(Statements& to, const JobRow& row) {
    Statement& put = to.put_job.integer(std::int64_t{row.id.value})
                         .integer(number(row.array_id))
                         .text(row.element);
    return bind_facts(put, row).text(row.exit_code).blob(row.record).run();
}

bool write_past_run(Statements& to, const JobRow& row) {
    Statement& put = to.put_past_run.integer(std::int64_t{row.id.value})
                         .integer(std::int64_t{row.attempt.value})
                         .integer(number(row.array_id));
    return bind_facts(put, row).blob(row.record).run();
}

// What is not to be kept of a script and its environment is taken out of the record.
bool trim_payload(Statements& to, const KeptPayload& kept) {
    Statement& query = to.payload.integer(std::int64_t{kept.job.value});
    const Statement::Step step = query.next();
    wire::JobPayload payload;
    const bool found = step == Statement::Step::Row;
    if (found) payload.ParseFromString(std::string(query.column_bytes(0)));
    query.reset();
    if (!found) return step == Statement::Step::Done;
    if (!kept.script) payload.clear_script();
    if (!kept.environment) payload.clear_environment();
    const std::string record = payload.SerializeAsString();
    return to.trim_payload.blob(record).integer(std::int64_t{kept.job.value}).run();
}

Statement& bind_key(Statement& to, const StepKey& key) {
    return to.integer(std::int64_t{key.job.value})
        .integer(std::int64_t{key.attempt.value})
        .integer(std::int64_t{key.step.value});
}

bool write_step_launches(Statements& to, const Batch& batch) {
    for (const StepLaunchRow& row : batch.step_launches) {
        if (!bind_key(to.put_step_launch, row.key).blob(*row.record).run()) return false;
    }
    for (const StepKey& key : batch.deleted_step_launches) {
        if (!bind_key(to.delete_step_launch, key).run()) return false;
    }
    return true;
}

bool write(Statements& to, const StepRow& row) {
    return bind_key(to.put_step, row.key)
        .text(std::string_view(row.name))
        .text(std::string_view(row.state))
        .integer(row.start_time)
        .integer(row.end_time)
        .text(row.exit_code)
        .blob(row.record)
        .run();
}

constexpr std::string_view kLastTrigger = "last_trigger_id";
constexpr std::string_view kNextJob = "next_job_id";
constexpr std::string_view kCommits = "commits";
// So many ids are marked as given at once: a submission in so many waits for one more sync.
constexpr std::uint64_t kJobsPerMark = 10'000;

bool write_triggers(Statements& to, const Batch& batch) {
    std::uint32_t last = 0;
    for (const TriggerRow& row : batch.triggers) {
        last = std::max(last, row.id);
        Statement& put =
            to.put_trigger.integer(std::int64_t{row.id}).text(std::string_view(row.user));
        if (!put.text(std::string_view(row.program)).blob(row.record).run()) return false;
    }
    for (const std::uint32_t id : batch.deleted_triggers) {
        last = std::max(last, id);
        if (!to.delete_trigger.integer(std::int64_t{id}).run()) return false;
    }
    // The number of a trigger that is gone is not given again.
    if (last == 0) return true;
    return to.raise_counter.text(kLastTrigger).integer(std::int64_t{last}).run();
}

bool write_reservations(Statements& to, const Batch& batch) {
    for (const ReservationRow& row : batch.reservations) {
        Statement& put = to.put_reservation.text(std::string_view(row.name))
                             .integer(row.start_time)
                             .integer(row.end_time);
        if (!put.text(std::string_view(row.nodes)).blob(row.record).run()) return false;
    }
    for (const std::string& name : batch.deleted_reservations) {
        if (!to.delete_reservation.text(std::string_view(name)).run()) return false;
    }
    if (!batch.next_reservation_id) return true;
    return to.put_counter.text(std::string_view("next_reservation_id"))
        .integer(std::int64_t{*batch.next_reservation_id})
        .run();
}

// Nearly always the row of the job before it says the same, and a page less is written:
// load_counters() looks there too. Rows go by purge() alone, which sees to the counter.
bool write_next_job_id(Statements& to, const Batch& batch) {
    if (!batch.next_job_id) return true;
    const auto is_last = [&](const JobRow& row) {
        return row.id.value + 1 == batch.next_job_id->value;
    };
    if (std::ranges::any_of(batch.jobs, is_last)) return true;
    return to.put_counter.text(kNextJob).integer(std::int64_t{batch.next_job_id->value}).run();
}

bool write(Statements& to, const Batch& batch) {
    if (!write_reservations(to, batch)) return false;
    for (const JobRow& row : batch.jobs) {
        if (!write(to, row)) return false;
    }
    for (const JobRow& row : batch.past_runs) {
        if (!write_past_run(to, row)) return false;
    }
    for (const StepRow& row : batch.steps) {
        if (!write(to, row)) return false;
    }
    for (const PayloadRow& row : batch.payloads) {
        if (!to.put_payload.integer(std::int64_t{row.job.value}).blob(*row.record).run())
            return false;
    }
    for (const JobId job : batch.deleted_payloads) {
        if (!to.delete_payload.integer(std::int64_t{job.value}).run()) return false;
    }
    for (const KeptPayload& kept : batch.kept_payloads) {
        if (!trim_payload(to, kept)) return false;
    }
    for (const NodeRow& row : batch.nodes) {
        Statement& put =
            to.put_node.text(std::string_view(row.name)).text(std::string_view(row.state));
        if (!put.text(std::string_view(row.reason)).blob(row.record).run()) return false;
    }
    for (const std::string& name : batch.deleted_nodes) {
        if (!to.delete_node.text(std::string_view(name)).run()) return false;
    }
    for (const PartitionRow& row : batch.partitions) {
        Statement& put = to.put_partition.text(std::string_view(row.name));
        if (!put.text(std::string_view(row.state)).blob(row.record).run()) return false;
    }
    for (const std::string& name : batch.deleted_partitions) {
        if (!to.delete_partition.text(std::string_view(name)).run()) return false;
    }
    for (const std::string& name : batch.reset_partitions) {
        if (!to.reset_partition.text(std::string_view(name)).run()) return false;
    }
    if (batch.restore_is_over && !to.delete_counter.text(kRestoring).run()) return false;
    return write_triggers(to, batch) && write_step_launches(to, batch) &&
           write_next_job_id(to, batch);
}

class SqliteStore final : public Store {
  public:
    SqliteStore(std::string path, const SqliteOptions& options, io::Fd lock, MarkFile mark_file,
                const Mark& mark, Database database, Statements statements)
        : path_(std::move(path)),
          keep_payloads_(options.keep_payloads),
          log_pages_max_(options.log_pages_max),
          lock_(std::move(lock)),
          mark_file_(std::move(mark_file)),
          mark_(mark),
          database_(std::move(database)),
          statements_(std::move(statements)) {
        database_.count_log(log_pages_);
    }
    ~SqliteStore() override;

    Result<Loaded> load() override;
    Status load_jobs(Instant ended_since, const TakeJob& take) override;

    Status commit(const Batch& batch) override;
    Result<bool> try_commit(const Batch& batch) override;

    bool purge_is_due() const override { return purge_is_due_; }

    Result<std::optional<std::string>> payload(JobId job) override {
        return read_payload(database_, statements_.payload, job);
    }

    Status set_aside(JobId job) override { return store::set_aside(database_, job); }
    Status put_back(JobId job) override { return store::put_back(database_, job); }

    Result<std::unique_ptr<Reader>> open_reader() override { return open_sqlite_reader(path_); }

  private:
    bool needs_new_mark(const Batch& batch) const {
        return batch.next_job_id && batch.next_job_id->value > mark_.jobs_below;
    }
    Status mark_ids(const Batch& batch);
    Status write_all(bool begun, const Batch& batch);
    Result<std::optional<std::int64_t>> counter(std::string_view name);
    Status load_counters(Loaded& loaded);
    Status load_partitions(Loaded& loaded);
    Status load_step_launches(Loaded& loaded);
    Result<std::vector<std::int64_t>> ids_to_load(Instant ended_since);
    Status read_jobs(Instant ended_since, const TakeJob& take);
    Status drop_old_payloads(Instant ended_since);

    std::string path_;
    bool keep_payloads_ = false, purge_is_due_ = false;
    int log_pages_max_, log_pages_ = 0;
    io::Fd lock_;
    MarkFile mark_file_;
    Mark mark_;
    Database database_;
    Statements statements_;
    std::optional<Error> broken_;
};

// The log is folded back, so that the database is one file, and the mark is exact.
SqliteStore::~SqliteStore() {
    if (broken_) return;
    database_.fold_log();
    mark_.closed = true;
    mark_.jobs_below = mark_.next_job;
    // If it cannot be written, the next controller looks closer and goes on from higher ids.
    (void)mark_file_.write(mark_);
}

// Before an id is given for the first time.
Status SqliteStore::mark_ids(const Batch& batch) {
    Mark next = mark_;
    next.jobs_below = batch.next_job_id->value + kJobsPerMark;
    SY_CHECK(mark_file_.write(next));
    mark_ = next;
    return {};
}

Status SqliteStore::commit(const Batch& batch) {
    if (broken_) return Failure{*broken_};
    if (batch.empty()) return {};
    if (needs_new_mark(batch)) SY_CHECK(mark_ids(batch));
    if (log_pages_ >= log_pages_max_) database_.copy_log();
    return write_all(statements_.begin.run(), batch);
}

Result<bool> SqliteStore::try_commit(const Batch& batch) {
    if (broken_) return Failure{*broken_};
    if (batch.empty()) return true;
    if (batch.purge || log_pages_ >= log_pages_max_ || needs_new_mark(batch)) return false;
    database_.wait_for_others(false);
    const bool begun = statements_.begin.run();
    database_.wait_for_others(true);
    if (!begun && database_.is_busy()) return false;
    SY_CHECK(write_all(begun, batch));
    return true;
}

// The rest of a transaction, or what there is to say if not even its begin went well.
Status SqliteStore::write_all(bool begun, const Batch& batch) {
    const auto count = static_cast<std::int64_t>(mark_.commits + 1);
    const bool done = begun && write(statements_, batch) &&
                      (!batch.purge || purge(statements_.purge, *batch.purge, purge_is_due_)) &&
                      statements_.put_counter.text(kCommits).integer(count).run() &&
                      statements_.commit.run();
    if (done) {
        ++mark_.commits;
        if (batch.next_job_id) mark_.next_job = batch.next_job_id->value;
        mark_file_.note(mark_);
        return {};
    }
    Error error = database_.failure("write").error;
    if (database_.is_full()) error.code = kFull;
    // SQLite may have rolled it back itself; then there is nothing to roll back.
    statements_.rollback.run();
    if (error.code != kFull) broken_ = error;
    return Failure{std::move(error)};
}

Result<std::optional<std::int64_t>> SqliteStore::counter(std::string_view name) {
    SY_TRY(Statement query, database_.prepare("SELECT value FROM counters WHERE name = ?"));
    switch (query.text(name).next()) {
        case Statement::Step::Row:
            return std::optional(query.column_integer(0));
        case Statement::Step::Done:
            return std::optional<std::int64_t>();
        case Statement::Step::Failed:
            break;
    }
    return database_.failure("read");
}

Status SqliteStore::load_counters(Loaded& loaded) {
    SY_TRY(const auto next_job, counter(kNextJob));
    SY_TRY(Statement last_job, database_.prepare("SELECT max(id) FROM jobs"));
    if (last_job.next() != Statement::Step::Row) return database_.failure("read");
    const std::int64_t behind_last =
        last_job.column_is_null(0) ? 0 : last_job.column_integer(0) + 1;
    const std::int64_t next = std::max(next_job.value_or(0), behind_last);
    if (next > 0) loaded.next_job_id = JobId{static_cast<std::uint32_t>(next)};
    SY_TRY(const auto next_reservation, counter("next_reservation_id"));
    if (next_reservation)
        loaded.next_reservation_id = static_cast<std::uint32_t>(*next_reservation);
    SY_TRY(const auto last_trigger, counter(kLastTrigger));
    loaded.last_trigger_id = static_cast<std::uint32_t>(last_trigger.value_or(0));
    SY_TRY(const auto epoch, counter("epoch"));
    loaded.epoch = static_cast<std::uint64_t>(epoch.value_or(0));
    SY_TRY(const auto restoring, counter(kRestoring));
    loaded.restored = restoring.has_value();
    loaded.ended_well = mark_file_.found() && mark_file_.found()->closed;
    return {};
}

Status SqliteStore::load_partitions(Loaded& loaded) {
    SY_TRY(Statement query,
           database_.prepare("SELECT record FROM partitions WHERE deleted = 0 ORDER BY name"));
    SY_TRY(loaded.partitions, (read_rows<wire::Partition, model::Partition>(database_, query)));
    SY_TRY(Statement deleted,
           database_.prepare("SELECT name FROM partitions WHERE deleted = 1 ORDER BY name"));
    Statement::Step step;
    while ((step = deleted.next()) == Statement::Step::Row) {
        loaded.deleted_partitions.emplace_back(deleted.column_bytes(0));
    }
    if (step == Statement::Step::Failed) return database_.failure("read");
    return {};
}

Status SqliteStore::load_step_launches(Loaded& loaded) {
    SY_TRY(Statement query, database_.prepare("SELECT job, attempt, step, record "
                                              "FROM step_launches ORDER BY job, attempt, step"));
    Statement::Step next;
    while ((next = query.next()) == Statement::Step::Row) {
        const auto number = [&](int column) {
            return static_cast<std::uint32_t>(query.column_integer(column));
        };
        loaded.step_launches.push_back(
            {{JobId{number(0)}, Attempt{number(1)}, StepId{number(2)}},
             std::make_shared<const std::string>(query.column_bytes(3))});
    }
    if (next == Statement::Step::Failed) return database_.failure("read");
    return {};
}

Result<Loaded> SqliteStore::load() {
    Loaded loaded;
    SY_CHECK(load_counters(loaded));
    SY_TRY(Statement nodes, database_.prepare("SELECT record FROM nodes ORDER BY name"));
    SY_TRY(loaded.nodes, (read_rows<wire::Node, model::Node>(database_, nodes)));
    SY_CHECK(load_partitions(loaded));
    SY_CHECK(load_step_launches(loaded));
    SY_TRY(Statement triggers, database_.prepare("SELECT record FROM triggers ORDER BY id"));
    SY_TRY(loaded.triggers, (read_rows<wire::Trigger, model::Trigger>(database_, triggers)));
    SY_TRY(Statement reservations,
           database_.prepare("SELECT record FROM reservations ORDER BY name"));
    SY_TRY(loaded.reservations,
           (read_rows<wire::Reservation, model::Reservation>(database_, reservations)));
    return loaded;
}

// By the index over end_time, so that a long history costs nothing.
Result<std::vector<std::int64_t>> SqliteStore::ids_to_load(Instant ended_since) {
    std::vector<std::int64_t> ids;
    for (const char* which : {"end_time IS NULL", "end_time >= ?"}) {
        SY_TRY(Statement query,
               database_.prepare(fmt::format("SELECT id FROM jobs WHERE {}", which)));
        if (std::string_view(which).ends_with('?')) query.integer(unix_seconds(ended_since));
        Statement::Step step;
        while ((step = query.next()) == Statement::Step::Row)
            ids.push_back(query.column_integer(0));
        if (step == Statement::Step::Failed) return database_.failure("read");
    }
    std::ranges::sort(ids);
    return ids;
}

Status SqliteStore::load_jobs(Instant ended_since, const TakeJob& take) {
    // One transaction: otherwise each of the many small reads takes and leaves SQLite's locks.
    SY_CHECK(database_.execute("BEGIN"));
    const Status read = read_jobs(ended_since, take);
    SY_CHECK(database_.execute("COMMIT"));
    return read ? drop_old_payloads(ended_since) : read;
}

Failure unreadable(std::int64_t job, const Error& why) {
    return fail(why.code, fmt::format("job {}: {}: `slurmctld --quarantine {}` sets it aside", job,
                                      why.message, job));
}

Status SqliteStore::read_jobs(Instant ended_since, const TakeJob& take) {
    SY_TRY(const std::vector<std::int64_t> ids, ids_to_load(ended_since));
    SY_TRY(Statement record, database_.prepare("SELECT record FROM jobs WHERE id = ?"));
    SY_TRY(Statement steps_of, database_.prepare("SELECT record FROM steps WHERE job = ? "
                                                 "ORDER BY attempt, step"));
    RowReader<wire::Job, model::Job> jobs(database_);
    for (const std::int64_t id : ids) {
        Result<std::optional<model::Job>> job = jobs.next(record.integer(id));
        if (!job) return unreadable(id, job.error());
        record.reset();
        if (!*job) continue;
        Result<std::vector<model::Step>> steps{std::vector<model::Step>()};
        // Nobody has steps before the first run.
        if ((*job)->attempt.value > 0 || !std::holds_alternative<model::Pending>((*job)->phase)) {
            steps = read_rows<wire::Step, model::Step>(database_, steps_of.integer(id));
            if (!steps) return unreadable(id, steps.error());
        }
        take(**std::move(job), *std::move(steps));
    }
    return {};
}

// Payloads go when their jobs leave memory. What left while no controller was there is found among
// the jobs that ended since the last one looked: never by a walk over all payloads.
Status SqliteStore::drop_old_payloads(Instant ended_since) {
    constexpr std::string_view kMark = "payloads_dropped_until";
    const std::int64_t until = keep_payloads_ ? 0 : unix_seconds(ended_since);
    SY_TRY(const auto mark, counter(kMark));
    if (!keep_payloads_) {
        SY_CHECK(database_.execute(fmt::format(
            "DELETE FROM payloads WHERE job IN (SELECT coalesce(array_id, id) FROM jobs "
            "WHERE end_time >= {0} AND end_time < {1}) AND NOT EXISTS (SELECT 1 FROM jobs j "
            "WHERE j.array_id = payloads.job AND (j.end_time IS NULL OR j.end_time >= {1}))",
            mark.value_or(0), until)));
    }
    if (mark.value_or(0) == until) return {};
    if (statements_.put_counter.text(kMark).integer(until).run()) return {};
    return database_.failure("write");
}

}  // namespace

Result<io::Fd> lock_database(const std::string& path) {
    const std::string name = path + ".lock";
    io::Fd file(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!file) return fail(Errc::Io, fmt::format("cannot open {}: {}", name, std::strerror(errno)));
    if (!io::lock_alone(file.get())) {
        char owner[32] = {};
        const ssize_t got = ::read(file.get(), owner, sizeof owner - 1);
        const std::string_view pid =
            trim(std::string_view(owner, got > 0 ? static_cast<std::size_t>(got) : 0));
        return fail(Errc::Busy,
                    fmt::format("another controller (process {}) is using {}", pid, path));
    }
    const std::string pid = fmt::format("{}\n", ::getpid());
    if (::ftruncate(file.get(), 0) != 0 || ::write(file.get(), pid.data(), pid.size()) < 0) {
        return fail(Errc::Io, fmt::format("cannot write {}: {}", name, std::strerror(errno)));
    }
    return file;
}

namespace {

// Environments may hold secrets: the file is made by us before SQLite can make it readable to all.
// It is closed again before SQLite opens it: closing it later would drop SQLite's locks, which
// belong to the process.
Status make_private(const std::string& path) {
    const io::Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!file) return fail(Errc::Io, fmt::format("cannot open {}: {}", path, std::strerror(errno)));
    return {};
}

}  // namespace

Result<std::unique_ptr<Store>> open_sqlite(const std::string& path, const SqliteOptions& options) {
    SY_TRY(io::Fd lock, lock_database(path));
    SY_TRY(MarkFile mark_file, MarkFile::open(path + ".mark"));
    SY_CHECK(check_presence(path, options, mark_file));
    SY_CHECK(make_private(path));
    SY_TRY(Database database, Database::open(path, true));
    SY_CHECK(database.execute(std::string(kPragmas)));
    if (options.pages_max) {
        SY_CHECK(database.execute(fmt::format("PRAGMA max_page_count={}", *options.pages_max)));
    }
    SY_CHECK(migrate(database));
    SY_CHECK(check_pages(database, path));
    SY_TRY(const Mark mark, begin_epoch(database, path, options, mark_file));
    Statements statements;
    SY_CHECK(prepare_all(database, statements));
    return std::unique_ptr<Store>(
        std::make_unique<SqliteStore>(path, options, std::move(lock), std::move(mark_file), mark,
                                      std::move(database), std::move(statements)));
}

}  // namespace switchyard::store
