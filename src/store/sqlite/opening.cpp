#include "store/sqlite/opening.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "wire/key.hpp"

namespace switchyard::store {
namespace {

// What reading takes a tenth of a second; a larger one is looked at while the controller serves.
constexpr off_t kCheckedAtOnce = 64 << 20;
constexpr const char* kSmallTables[] = {"counters", "nodes",        "partitions",
                                        "triggers", "reservations", "step_launches"};

off_t size_of(const std::string& path) {
    struct stat facts{};
    return ::stat(path.c_str(), &facts) == 0 ? facts.st_size : 0;
}

Result<std::optional<std::uint64_t>> number(Database& database, std::string_view sql) {
    SY_TRY(Statement query, database.prepare(sql));
    const Statement::Step step = query.next();
    if (step == Statement::Step::Failed) return database.failure("read");
    if (step == Statement::Step::Done || query.column_is_null(0))
        return std::optional<std::uint64_t>();
    return std::optional(static_cast<std::uint64_t>(query.column_integer(0)));
}

Result<std::optional<std::uint64_t>> counter(Database& database, std::string_view name) {
    return number(database, fmt::format("SELECT value FROM counters WHERE name = '{}'", name));
}

// Positive as a number of the database's.
std::uint64_t random_identity() {
    const std::string bytes = wire::random_bytes(sizeof(std::uint64_t));
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    return (value >> 2) + 1;
}

Failure missing(const std::string& path) {
    return fail(Errc::NotFound,
                fmt::format("the database {} is missing or empty, but this cluster has run before: "
                            "put it back, or put a backup in its place and start with slurmctld "
                            "--restore; slurmctld -c starts with an empty queue",
                            path));
}

// What the database says of itself, as a mark.
Result<Mark> read_own(Database& database) {
    Mark own;
    SY_TRY(const auto identity, counter(database, "identity"));
    SY_TRY(const auto epoch, counter(database, "epoch"));
    SY_TRY(const auto commits, counter(database, "commits"));
    SY_TRY(const auto next, counter(database, "next_job_id"));
    SY_TRY(const auto behind_last, number(database, "SELECT max(id) + 1 FROM jobs"));
    own.identity = identity.value_or(0);
    own.epoch = epoch.value_or(0);
    own.commits = commits.value_or(0);
    own.next_job = std::max(next.value_or(0), behind_last.value_or(0));
    return own;
}

Status compare(const Mark& own, const Mark& last, const std::string& path) {
    constexpr std::string_view kWhatToDo =
        "put the newest one back; if a backup was put in its place on purpose, start once with "
        "slurmctld --restore";
    if (own.identity != last.identity && own.identity != 0) {
        return fail(Errc::Busy,
                    fmt::format("the database {} is another one than this cluster used last: {}",
                                path, kWhatToDo));
    }
    if (own.epoch >= last.epoch && own.commits >= last.commits) return {};
    return fail(
        Errc::Busy,
        fmt::format("the database {} is older than what this cluster has written: it ends "
                    "with commit {} of epoch {}, the last one was commit {} of epoch {}: {}",
                    path, own.commits, own.epoch, last.commits, last.epoch, kWhatToDo));
}

Status check_pages_by(Database& database, const std::string& path, const std::string& sql) {
    SY_TRY(Statement query, database.prepare(sql));
    if (query.next() != Statement::Step::Row) return database.failure("read");
    const std::string_view said = query.column_bytes(0);
    if (said == "ok") return {};
    return fail(Errc::Io, damage_text(path, said.substr(0, said.find('\n'))));
}

}  // namespace

Status check_presence(const std::string& path, const SqliteOptions& options, const MarkFile& mark) {
    const bool known = options.has_run_before || mark.found();
    if (size_of(path) > 0 || options.opening == Opening::Cleared) return {};
    if (options.opening == Opening::Restored || known) return missing(path);
    return {};
}

Result<Mark> begin_epoch(Database& database, const std::string& path, const SqliteOptions& options,
                         MarkFile& mark) {
    SY_TRY(Mark own, read_own(database));
    const Mark last = mark.found().value_or(Mark{});
    if (options.opening == Opening::Usual && mark.found()) {
        // Tables that nobody ever wrote to.
        if (own.epoch == 0) return missing(path);
        SY_CHECK(compare(own, last, path));
    }
    if (own.identity == 0) own.identity = random_identity();
    own.epoch = std::max(own.epoch, last.epoch) + 1;
    own.commits = std::max(own.commits, last.commits) + 1;
    // Ids that were given after the backup was made are not given again.
    if (options.opening != Opening::Usual)
        own.next_job = std::max(own.next_job, last.closed ? last.next_job : last.jobs_below);
    own.jobs_below = std::max(own.next_job, last.jobs_below);
    // The first write: a read-only disk is told here.
    SY_CHECK(database.execute(fmt::format(
        "BEGIN IMMEDIATE;"
        "INSERT OR REPLACE INTO counters VALUES ('identity', {}), ('epoch', {}), ('commits', {});"
        "INSERT INTO counters SELECT 'next_job_id', {} WHERE {} > 0 "
        "ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value);"
        "INSERT OR REPLACE INTO counters SELECT '{}', 1 WHERE {};"
        "COMMIT;",
        own.identity, own.epoch, own.commits, own.next_job, own.next_job, kRestoring,
        options.opening == Opening::Restored)));
    SY_CHECK(mark.write(own));
    return own;
}

Status check_pages(Database& database, const std::string& path) {
    if (size_of(path) <= kCheckedAtOnce)
        return check_pages_by(database, path, "PRAGMA quick_check(1)");
    for (const char* table : kSmallTables)
        SY_CHECK(check_pages_by(database, path, fmt::format("PRAGMA quick_check('{}')", table)));
    return {};
}

Status check_whole(const std::string& path, const std::atomic<bool>& stop) {
    SY_TRY(Database database, Database::open(path, false));
    database.give_up_when(stop);
    const Status status = check_pages_by(database, path, "PRAGMA quick_check(1)");
    return stop ? Status() : status;
}

}  // namespace switchyard::store
