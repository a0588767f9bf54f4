// sqlite_store.cpp: see sqlite_store.hpp.
#include "store/sqlite/sqlite_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/text.hpp"
#include "io/fd.hpp"
#include "io/file_lock.hpp"
#include "store/sqlite/database.hpp"
#include "store/sqlite/mark.hpp"
#include "store/sqlite/opening.hpp"
#include "store/sqlite/purge.hpp"
#include "store/sqlite/quarantine.hpp"
#include "store/sqlite/reader.hpp"
#include "store/sqlite/rows.hpp"
#include "store/sqlite/schema.hpp"
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
    struct OfKind {
        Statement put, drop;
    };
    std::array<OfKind, std::size(kKinds)> kinds;
    Statement trim_payload, put_counter, raise_counter, delete_counter, payload;
    PurgeStatements purge;
};

std::string question_marks(int count) {
    std::string text = "?";
    for (int i = 1; i < count; ++i) text += ",?";
    return text;
}

Status prepare_all(Database& database, Statements& statements) {
    for (const KindInfo& kind : kKinds) {
        Statements::OfKind& of = statements.kinds[static_cast<std::size_t>(kind.kind)];
        SY_TRY(of.put, database.prepare(fmt::format("INSERT OR {} INTO {} VALUES ({})",
                                                    kind.first_stays ? "IGNORE" : "REPLACE",
                                                    kind.table, question_marks(kind.columns + 1))));
        SY_TRY(of.drop, database.prepare(fmt::format("DELETE FROM {} WHERE ({}) = ({})", kind.table,
                                                     kind.key, question_marks(kind.key_columns))));
    }
    struct Text {
        Statement Statements::* place;
        std::string_view sql;
    };
    const Text texts[] = {
        {&Statements::begin, "BEGIN IMMEDIATE"},
        {&Statements::commit, "COMMIT"},
        {&Statements::rollback, "ROLLBACK"},
        {&Statements::put_counter, "INSERT OR REPLACE INTO counters VALUES (?,?)"},
        {&Statements::delete_counter, "DELETE FROM counters WHERE name = ?"},
        {&Statements::trim_payload, "UPDATE payloads SET record = ? WHERE job = ?"},
        {&Statements::raise_counter,
         "INSERT INTO counters VALUES (?,?) "
         "ON CONFLICT(name) DO UPDATE SET value = max(value, excluded.value)"},
        {&Statements::payload, kPayloadQuery},
    };
    for (const Text& text : texts) {
        SY_TRY(statements.*text.place, database.prepare(text.sql));
    }
    return prepare(database, statements.purge);
}

void bind(Statement& to, const Column& column) {
    if (const auto* number = std::get_if<std::int64_t>(&column)) {
        to.integer(*number);
    } else if (const auto* text = std::get_if<std::string>(&column)) {
        to.text(std::string_view(*text));
    } else {
        to.integer(std::optional<std::int64_t>());
    }
}

bool write(Statements& to, const Row& row) {
    Statements::OfKind& of = to.kinds[static_cast<std::size_t>(row.kind)];
    Statement& statement = row.record ? of.put : of.drop;
    for (const Column& column : row.columns) bind(statement, column);
    if (row.record) statement.blob(*row.record);
    return statement.run();
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

constexpr std::string_view kLastTrigger = "last_trigger_id";
constexpr std::string_view kNextJob = "next_job_id";
constexpr std::string_view kNextReservation = "next_reservation_id";
constexpr std::string_view kCommits = "commits";
// So many ids are marked as given at once: a submission in so many waits for one more sync.
constexpr std::uint64_t kJobsPerMark = 10'000;

// Nearly always the row of the job before it says the same, and a page less is written:
// load_counters() looks there too. Rows go by purge() alone, which sees to the counter.
bool write_next_job_id(Statements& to, const Batch& batch) {
    if (!batch.next_job_id) return true;
    const auto is_last = [&](const Row& row) {
        return row.kind == Kind::Job && row.job()->value + 1 == batch.next_job_id->value;
    };
    if (std::ranges::any_of(batch.rows, is_last)) return true;
    return to.put_counter.text(kNextJob).integer(std::int64_t{batch.next_job_id->value}).run();
}

bool write_counters(Statements& to, const Batch& batch) {
    if (batch.last_trigger_id != 0 &&
        !to.raise_counter.text(kLastTrigger).integer(std::int64_t{batch.last_trigger_id}).run())
        return false;
    if (batch.next_reservation_id && !to.put_counter.text(kNextReservation)
                                          .integer(std::int64_t{*batch.next_reservation_id})
                                          .run())
        return false;
    if (batch.restore_is_over && !to.delete_counter.text(kRestoring).run()) return false;
    return write_next_job_id(to, batch);
}

bool write(Statements& to, const Batch& batch) {
    return std::ranges::all_of(batch.rows, [&](const Row& row) { return write(to, row); }) &&
           std::ranges::all_of(batch.kept_payloads,
                               [&](const KeptPayload& kept) { return trim_payload(to, kept); }) &&
           write_counters(to, batch);
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
    template <class Record>
    Status load_all(const KindInfo& kind, std::vector<Record>& to);
    Status load_all(const KindInfo& kind, std::vector<model::PartitionRecord>& to);
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
    SY_TRY(const auto next_reservation, counter(kNextReservation));
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

template <class Record>
Status SqliteStore::load_all(const KindInfo& kind, std::vector<Record>& to) {
    SY_TRY(Statement query, database_.prepare(fmt::format("SELECT record FROM {} ORDER BY {}",
                                                          kind.table, kind.key)));
    SY_TRY(to, (read_rows<MessageOf<Record>, Record>(database_, query)));
    return {};
}

// Of a deleted one its row has only the name.
Status SqliteStore::load_all(const KindInfo&, std::vector<model::PartitionRecord>& to) {
    SY_TRY(Statement query,
           database_.prepare("SELECT record, name, deleted FROM partitions ORDER BY name"));
    RowReader<wire::Partition, model::Partition> rows(database_);
    for (;;) {
        SY_TRY(std::optional<model::Partition> partition, rows.next(query));
        if (!partition) return {};
        model::PartitionRecord& record = to.emplace_back();
        record.deleted = query.column_integer(2) != 0;
        if (record.deleted)
            record.partition.name = query.column_bytes(1);
        else
            record.partition = *std::move(partition);
    }
}

Status SqliteStore::load_step_launches(Loaded& loaded) {
    SY_TRY(Statement query, database_.prepare("SELECT job, attempt, step, record "
                                              "FROM step_launches ORDER BY job, attempt, step"));
    Statement::Step next;
    while ((next = query.next()) == Statement::Step::Row) {
        const auto number = [&](int column) {
            return static_cast<std::uint32_t>(query.column_integer(column));
        };
        loaded.step_launches.emplace(
            StepKey{JobId{number(0)}, Attempt{number(1)}, StepId{number(2)}},
            std::make_shared<const std::string>(query.column_bytes(3)));
    }
    if (next == Statement::Step::Failed) return database_.failure("read");
    return {};
}

Result<Loaded> SqliteStore::load() {
    Loaded loaded;
    SY_CHECK(load_counters(loaded));
#define SY_LOAD(Type, plural, Key, key) SY_CHECK(load_all(info_of(Kind::Type), loaded.plural));
    SY_CLUSTER_RECORDS(SY_LOAD)
#undef SY_LOAD
    SY_CHECK(load_step_launches(loaded));
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
