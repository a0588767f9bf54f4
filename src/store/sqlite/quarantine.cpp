#include "store/sqlite/quarantine.hpp"

#include <fmt/format.h>

#include <ranges>
#include <string>

#include "store/rows.hpp"

namespace switchyard::store {
namespace {

Status move(Database& database, JobId job, const std::string& from, const std::string& to,
            const char* where) {
    SY_TRY(Statement known,
           database.prepare(fmt::format("SELECT 1 FROM {}jobs WHERE id = {} OR array_id = {}", from,
                                        job.value, job.value)));
    const Statement::Step step = known.next();
    if (step == Statement::Step::Failed) return database.failure("read");
    if (step == Statement::Step::Done)
        return fail(Errc::NotFound, fmt::format("job {} is not {}", job.value, where));
    known.reset();
    // The last id goes with its row, and is not given again.
    std::string sql =
        "BEGIN IMMEDIATE;"
        "INSERT INTO counters SELECT 'next_job_id', coalesce(max(id) + 1, 0) FROM jobs WHERE true "
        "ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value);";
    // The table of jobs is last: by it the rows of the others are found.
    for (const KindInfo& kind : std::views::reverse(kKinds)) {
        if (!is_of_job(kind.kind)) continue;
        const std::string_view column = kind.key.substr(0, kind.key.find(','));
        const std::string rows = fmt::format(
            "FROM {0}{1} WHERE {2} IN (SELECT id FROM {0}jobs WHERE id = {3} OR array_id = {3})",
            from, kind.table, column, job.value);
        sql += fmt::format("INSERT INTO {}{} SELECT * {};DELETE {};", to, kind.table, rows, rows);
    }
    Status moved = database.execute(sql + "COMMIT;");
    if (!moved) (void)database.execute("ROLLBACK;");
    return moved;
}

}  // namespace

Status set_aside(Database& database, JobId job) {
    return move(database, job, "", "quarantined_", "in the database");
}

Status put_back(Database& database, JobId job) {
    return move(database, job, "quarantined_", "", "in quarantine");
}

}  // namespace switchyard::store
