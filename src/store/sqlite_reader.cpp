#include "store/sqlite_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "store/sqlite_rows.hpp"
#include "wire/codec.hpp"

namespace switchyard::store {
namespace {

std::string places(std::size_t count) {
    std::string out;
    for (std::size_t i = 0; i < count; ++i) out += i == 0 ? "?" : ",?";
    return out;
}

// The part of the jobs that one statement looks at. Jobs asked for by id are found by it; others by
// the indexes over those that have ended, and over those that have not.
enum class Part { ById, Open, Ended, PastRuns };

void add_list(std::string& sql, std::string_view column, std::size_t count) {
    if (count > 0) sql += fmt::format(" AND {} IN ({})", column, places(count));
}

std::string select(const HistoryQuery& query, Part part) {
    std::string sql =
        fmt::format("SELECT id FROM {} WHERE ", part == Part::PastRuns ? "past_runs" : "jobs");
    const bool ended = part == Part::Ended || part == Part::PastRuns;
    if (!query.jobs.empty()) {
        const std::string ids = places(query.jobs.size());
        sql += fmt::format("(id IN ({}) OR array_id IN ({}))", ids, ids);
    } else {
        sql += part == Part::Open ? "end_time IS NULL" : "end_time IS NOT NULL";
        if (part == Part::Open && query.ended_only) sql += " AND state = 'COMPLETING'";
    }
    if (query.from && ended) sql += " AND end_time >= ?";
    if (query.from && part == Part::ById) sql += " AND (end_time IS NULL OR end_time >= ?)";
    if (query.to) sql += query.ended_only && ended ? " AND end_time <= ?" : " AND submit_time <= ?";
    add_list(sql, "uid", query.uids.size());
    add_list(sql, "user", query.users.size());
    add_list(sql, "name", query.names.size());
    if (ended) add_list(sql, "partition", query.partitions.size());
    if (ended) add_list(sql, "state", query.states.size());
    return sql;
}

void bind(Statement& statement, const HistoryQuery& query, Part part) {
    const bool ended = part == Part::Ended || part == Part::PastRuns;
    for (int twice = 0; twice < 2; ++twice) {
        for (const JobId id : query.jobs) statement.integer(std::int64_t{id.value});
    }
    if (query.from && part != Part::Open) statement.integer(unix_seconds(*query.from));
    if (query.to) statement.integer(unix_seconds(*query.to));
    for (const std::uint32_t uid : query.uids) statement.integer(std::int64_t{uid});
    const auto texts = [&](const std::vector<std::string>& values) {
        for (const std::string& value : values) statement.text(std::string_view(value));
    };
    texts(query.users);
    texts(query.names);
    if (ended) texts(query.partitions);
    if (ended) texts(query.states);
}

class SqliteReader final : public Reader {
  public:
    SqliteReader(Database database, Statement payload, Statement job, Statement runs,
                 Statement steps)
        : database_(std::move(database)),
          payload_(std::move(payload)),
          job_(std::move(job)),
          runs_(std::move(runs)),
          steps_(std::move(steps)) {}

    Result<std::optional<std::string>> payload(JobId job) override {
        return read_payload(database_, payload_, job);
    }

    Result<std::vector<JobId>> find(const HistoryQuery& query) override {
        // First those that have not ended: one that ends meanwhile is then found twice, not missed.
        std::vector<Part> parts{Part::Open, Part::Ended};
        if (!query.jobs.empty()) parts = {Part::ById};
        if (query.past_runs) parts.push_back(Part::PastRuns);
        std::vector<JobId> ids;
        for (const Part part : parts) {
            SY_TRY(Statement statement, database_.prepare(select(query, part)));
            bind(statement, query, part);
            Statement::Step step;
            while ((step = statement.next()) == Statement::Step::Row) {
                ids.push_back(JobId{static_cast<std::uint32_t>(statement.column_integer(0))});
            }
            if (step == Statement::Step::Failed) return database_.failure("read");
        }
        std::ranges::sort(ids);
        ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
        return ids;
    }

    Result<HistoryChunk> fetch(std::span<const JobId> ids, bool with_steps,
                               bool past_runs) override {
        HistoryChunk chunk;
        chunk.jobs.reserve(ids.size());
        for (const JobId job : ids) {
            const std::int64_t id = job.value;
            if (past_runs) {
                SY_TRY(auto runs, (read_rows<wire::Job, model::Job>(database_, runs_.integer(id))));
                std::ranges::move(runs, std::back_inserter(chunk.jobs));
            }
            SY_TRY(auto jobs, (read_rows<wire::Job, model::Job>(database_, job_.integer(id))));
            std::ranges::move(jobs, std::back_inserter(chunk.jobs));
            if (!with_steps) continue;
            SY_TRY(auto steps, (read_rows<wire::Step, model::Step>(database_, steps_.integer(id))));
            std::ranges::move(steps, std::back_inserter(chunk.steps));
        }
        return chunk;
    }

  private:
    Database database_;
    Statement payload_, job_, runs_, steps_;
};

}  // namespace

Result<std::optional<std::string>> read_payload(Database& database, Statement& query, JobId job) {
    const Statement::Step step = query.integer(std::int64_t{job.value}).next();
    std::optional<std::string> found;
    if (step == Statement::Step::Row) found = std::string(query.column_bytes(0));
    query.reset();
    if (step == Statement::Step::Failed) return database.failure("read");
    return found;
}

Result<std::unique_ptr<Reader>> open_sqlite_reader(const std::string& path) {
    SY_TRY(Database database, Database::open(path, false));
    SY_TRY(Statement payload, database.prepare(kPayloadQuery));
    SY_TRY(Statement job, database.prepare("SELECT record FROM jobs WHERE id = ?"));
    SY_TRY(Statement runs,
           database.prepare("SELECT record FROM past_runs WHERE id = ? ORDER BY attempt"));
    SY_TRY(Statement steps,
           database.prepare("SELECT record FROM steps WHERE job = ? ORDER BY attempt, step"));
    return std::unique_ptr<Reader>(
        std::make_unique<SqliteReader>(std::move(database), std::move(payload), std::move(job),
                                       std::move(runs), std::move(steps)));
}

}  // namespace switchyard::store
