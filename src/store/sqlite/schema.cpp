#include "store/sqlite/schema.hpp"

#include <fmt/format.h>

#include <string_view>

namespace switchyard::store {
namespace {

// Entry i leads from version i to version i+1. Never edit one that was released: append.
//
// `record` is the truth (a message of src/wire/proto/model.proto); the columns beside it serve
// people and indexes. Jobs that have not ended have no end_time, and an index over end_time finds
// both them and the recently ended; the other indexes leave them out, so that a submission pays for
// one index only.
constexpr std::string_view kMigrations[] = {
    R"sql(
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY, array_id INTEGER, element TEXT, uid INTEGER NOT NULL, user TEXT NOT NULL,
    name TEXT NOT NULL, partition TEXT NOT NULL, state TEXT NOT NULL, submit_time INTEGER NOT NULL,
    start_time INTEGER, end_time INTEGER, exit_code TEXT, record BLOB NOT NULL);
CREATE INDEX jobs_by_end ON jobs (end_time);
CREATE INDEX jobs_by_user ON jobs (user, end_time) WHERE end_time IS NOT NULL;
CREATE INDEX jobs_by_uid ON jobs (uid, end_time) WHERE end_time IS NOT NULL;
CREATE INDEX jobs_by_name ON jobs (name, end_time) WHERE end_time IS NOT NULL;
CREATE INDEX jobs_by_array ON jobs (array_id) WHERE array_id IS NOT NULL;
CREATE TABLE steps (
    job INTEGER NOT NULL, attempt INTEGER NOT NULL, step INTEGER NOT NULL, name TEXT NOT NULL, state TEXT NOT NULL,
    start_time INTEGER NOT NULL, end_time INTEGER, exit_code TEXT, record BLOB NOT NULL,
    PRIMARY KEY (job, attempt, step)) WITHOUT ROWID;
CREATE TABLE payloads (job INTEGER PRIMARY KEY, record BLOB NOT NULL);
CREATE TABLE nodes (name TEXT PRIMARY KEY, state TEXT NOT NULL, reason TEXT NOT NULL, record BLOB NOT NULL)
    WITHOUT ROWID;
CREATE TABLE partitions (
    name TEXT PRIMARY KEY, state TEXT NOT NULL, deleted INTEGER NOT NULL DEFAULT 0, record BLOB NOT NULL)
    WITHOUT ROWID;
CREATE VIEW job_list AS
    SELECT id, array_id, element, user, name, partition, state,
           datetime(submit_time, 'unixepoch', 'localtime') AS submitted,
           datetime(start_time, 'unixepoch', 'localtime') AS started,
           datetime(end_time, 'unixepoch', 'localtime') AS ended, exit_code
    FROM jobs ORDER BY id;
)sql",
    R"sql(
CREATE INDEX jobs_by_state ON jobs (state, end_time) WHERE end_time IS NOT NULL;
CREATE INDEX jobs_by_partition ON jobs (partition, end_time) WHERE end_time IS NOT NULL;
CREATE TABLE past_runs (
    id INTEGER NOT NULL, attempt INTEGER NOT NULL, array_id INTEGER, uid INTEGER NOT NULL, user TEXT NOT NULL,
    name TEXT NOT NULL, partition TEXT NOT NULL, state TEXT NOT NULL, submit_time INTEGER NOT NULL,
    start_time INTEGER, end_time INTEGER, record BLOB NOT NULL, PRIMARY KEY (id, attempt)) WITHOUT ROWID;
CREATE INDEX past_runs_by_end ON past_runs (end_time);
CREATE INDEX past_runs_by_array ON past_runs (array_id) WHERE array_id IS NOT NULL;
)sql",
    R"sql(
CREATE TABLE triggers (id INTEGER PRIMARY KEY, user TEXT NOT NULL, program TEXT NOT NULL, record BLOB NOT NULL);
)sql",
    // With the time of submission in the index, a window long ago is found without reading the rows
    // of everything that ended since.
    R"sql(
DROP INDEX jobs_by_end;
DROP INDEX jobs_by_user;
DROP INDEX jobs_by_uid;
DROP INDEX jobs_by_name;
DROP INDEX jobs_by_state;
DROP INDEX jobs_by_partition;
CREATE INDEX jobs_by_end ON jobs (end_time, submit_time);
CREATE INDEX jobs_by_user ON jobs (user, end_time, submit_time) WHERE end_time IS NOT NULL;
CREATE INDEX jobs_by_uid ON jobs (uid, end_time, submit_time) WHERE end_time IS NOT NULL;
CREATE INDEX jobs_by_name ON jobs (name, end_time, submit_time) WHERE end_time IS NOT NULL;
CREATE INDEX jobs_by_state ON jobs (state, end_time, submit_time) WHERE end_time IS NOT NULL;
CREATE INDEX jobs_by_partition ON jobs (partition, end_time, submit_time) WHERE end_time IS NOT NULL;
)sql",
    R"sql(
CREATE TABLE reservations (
    name TEXT PRIMARY KEY, start_time INTEGER NOT NULL, end_time INTEGER NOT NULL, nodes TEXT NOT NULL,
    record BLOB NOT NULL) WITHOUT ROWID;
)sql",
    R"sql(
CREATE TABLE step_launches (
    job INTEGER NOT NULL, attempt INTEGER NOT NULL, step INTEGER NOT NULL, record BLOB NOT NULL,
    PRIMARY KEY (job, attempt, step));
)sql",
    // slurmctld --quarantine. The columns are those of the tables that the rows come from.
    R"sql(
CREATE TABLE quarantined_jobs AS SELECT * FROM jobs WHERE false;
CREATE TABLE quarantined_past_runs AS SELECT * FROM past_runs WHERE false;
CREATE TABLE quarantined_steps AS SELECT * FROM steps WHERE false;
CREATE TABLE quarantined_payloads AS SELECT * FROM payloads WHERE false;
CREATE TABLE quarantined_step_launches AS SELECT * FROM step_launches WHERE false;
)sql",
};
constexpr std::int64_t kVersion = std::size(kMigrations);

Result<std::int64_t> current_version(Database& database) {
    SY_TRY(Statement query, database.prepare("SELECT max(version) FROM schema_version"));
    if (query.next() != Statement::Step::Row) return database.failure("read");
    return query.column_integer(0);
}

}  // namespace

Status migrate(Database& database) {
    SY_CHECK(database.execute(
        "CREATE TABLE IF NOT EXISTS schema_version "
        "(version INTEGER PRIMARY KEY, made TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP)"));
    SY_TRY(const std::int64_t found, current_version(database));
    if (found > kVersion) {
        return fail(
            Errc::Unsupported,
            fmt::format("the state database has version {}, this program knows up to {}: it was "
                        "written by a newer one",
                        found, kVersion));
    }
    for (std::int64_t version = found; version < kVersion; ++version) {
        const std::string_view statements = kMigrations[version];
        SY_CHECK(database.execute(fmt::format(
            "BEGIN IMMEDIATE;{}INSERT INTO schema_version (version) VALUES ({});COMMIT;",
            statements, version + 1)));
    }
    return {};
}

}  // namespace switchyard::store
