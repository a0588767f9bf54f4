#include "store/sqlite/purge.hpp"

#include <utility>
#include <vector>

namespace switchyard::store {
namespace {

constexpr std::int64_t kJobsPerPurge = 2000;

// The rows of a statement of one or two numbers each.
bool read_pairs(Statement& query, std::vector<std::pair<std::int64_t, std::int64_t>>& rows) {
    Statement::Step step;
    while ((step = query.next()) == Statement::Step::Row) {
        rows.emplace_back(query.column_integer(0), query.column_integer(1));
    }
    query.reset();
    return step == Statement::Step::Done;
}

// The payload of an array is that of all its elements: it goes with the last of them.
bool purge_jobs(PurgeStatements& to, std::int64_t before, bool& more) {
    std::vector<std::pair<std::int64_t, std::int64_t>> jobs, runs;
    if (!read_pairs(to.old_jobs.integer(before).integer(kJobsPerPurge), jobs)) return false;
    // The last id may go with its row, and is not given again.
    if (!jobs.empty() && !to.keep_next_id.run()) return false;
    for (const auto& [id, payload] : jobs) {
        if (!to.delete_steps.integer(id).run() || !to.delete_job.integer(id).run() ||
            !to.delete_payload.integer(payload).integer(payload).run()) {
            return false;
        }
    }
    if (!read_pairs(to.old_runs.integer(before).integer(kJobsPerPurge), runs)) return false;
    for (const auto& [id, attempt] : runs) {
        if (!to.delete_run.integer(id).integer(attempt).run()) return false;
    }
    const auto full = static_cast<std::size_t>(kJobsPerPurge);
    more |= jobs.size() == full || runs.size() == full;
    return true;
}

// Goes through the ended jobs once, in the order of their ends, and remembers how far it came.
bool purge_steps(PurgeStatements& to, std::int64_t before, bool& more) {
    std::vector<std::pair<std::int64_t, std::int64_t>> mark, jobs;
    if (!read_pairs(to.read_mark, mark)) return false;
    const std::int64_t from = mark.empty() ? 0 : mark.front().first;
    if (from >= before) return true;
    bool full = false;
    // Others may have ended in the same second as the last: that second is looked at again. One
    // with very many ends is taken whole.
    for (std::int64_t limit = kJobsPerPurge;; limit *= 2) {
        jobs.clear();
        if (!read_pairs(to.stepped_jobs.integer(from).integer(before).integer(limit), jobs)) {
            return false;
        }
        full = jobs.size() == static_cast<std::size_t>(limit);
        if (!full || jobs.back().second > from) break;
    }
    for (const auto& [id, ended] : jobs) {
        if (!to.delete_steps.integer(id).run()) return false;
    }
    more |= full;
    return to.write_mark.integer(full ? jobs.back().second : before).run();
}

}  // namespace

Status prepare(Database& database, PurgeStatements& statements) {
    SY_TRY(
        statements.old_jobs,
        database.prepare("SELECT id, coalesce(array_id, id) FROM jobs WHERE end_time < ? LIMIT ?"));
    SY_TRY(statements.old_runs,
           database.prepare("SELECT id, attempt FROM past_runs WHERE end_time < ? LIMIT ?"));
    SY_TRY(statements.delete_job, database.prepare("DELETE FROM jobs WHERE id = ?"));
    SY_TRY(statements.delete_run,
           database.prepare("DELETE FROM past_runs WHERE id = ? AND attempt = ?"));
    SY_TRY(statements.delete_steps, database.prepare("DELETE FROM steps WHERE job = ?"));
    SY_TRY(statements.delete_payload,
           database.prepare("DELETE FROM payloads WHERE job = ? AND NOT EXISTS "
                            "(SELECT 1 FROM jobs WHERE array_id = ?)"));
    SY_TRY(statements.read_mark,
           database.prepare("SELECT value, 0 FROM counters WHERE name = 'steps_purged_until'"));
    SY_TRY(statements.write_mark,
           database.prepare("INSERT OR REPLACE INTO counters VALUES ('steps_purged_until', ?)"));
    SY_TRY(statements.stepped_jobs,
           database.prepare("SELECT id, end_time FROM jobs WHERE end_time >= ? AND end_time < ? "
                            "ORDER BY end_time LIMIT ?"));
    SY_TRY(statements.keep_next_id,
           database.prepare("INSERT INTO counters SELECT 'next_job_id', max(id) + 1 FROM jobs "
                            "WHERE true ON CONFLICT (name) DO UPDATE "
                            "SET value = max(value, excluded.value)"));
    return {};
}

bool purge(PurgeStatements& statements, const Purge& what, bool& more) {
    more = false;
    if (what.jobs_before && !purge_jobs(statements, *what.jobs_before, more)) return false;
    return !what.steps_before || purge_steps(statements, *what.steps_before, more);
}

}  // namespace switchyard::store
