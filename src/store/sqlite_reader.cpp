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

// The conditions of a query over ended jobs or over those that have not ended; each half has its
// own index.
std::string where(const HistoryQuery& query, bool ended) {
    std::string sql = ended ? "end_time IS NOT NULL" : "end_time IS NULL";
    if (ended && query.from) sql += " AND end_time >= ?";
    if (query.to) sql += " AND submit_time <= ?";
    if (!query.jobs.empty()) {
        const std::string ids = places(query.jobs.size());
        sql += fmt::format(" AND (id IN ({}) OR array_id IN ({}))", ids, ids);
    }
    if (!query.uids.empty()) sql += fmt::format(" AND uid IN ({})", places(query.uids.size()));
    if (!query.users.empty()) sql += fmt::format(" AND user IN ({})", places(query.users.size()));
    if (!query.names.empty()) sql += fmt::format(" AND name IN ({})", places(query.names.size()));
    if (!query.partitions.empty()) {
        sql += fmt::format(" AND partition IN ({})", places(query.partitions.size()));
    }
    return sql;
}

void bind(Statement& statement, const HistoryQuery& query, bool ended) {
    if (ended && query.from) statement.integer(unix_seconds(*query.from));
    if (query.to) statement.integer(unix_seconds(*query.to));
    for (int twice = 0; twice < 2; ++twice) {
        for (const JobId id : query.jobs) statement.integer(std::int64_t{id.value});
    }
    for (const std::uint32_t uid : query.uids) statement.integer(std::int64_t{uid});
    for (const std::string& user : query.users) statement.text(std::string_view(user));
    for (const std::string& name : query.names) statement.text(std::string_view(name));
    for (const std::string& partition : query.partitions)
        statement.text(std::string_view(partition));
}

class SqliteReader final : public Reader {
  public:
    SqliteReader(Database database, Statement payload, Statement job, Statement steps)
        : database_(std::move(database)),
          payload_(std::move(payload)),
          job_(std::move(job)),
          steps_(std::move(steps)) {}

    Result<std::optional<std::string>> payload(JobId job) override {
        return read_payload(database_, payload_, job);
    }

    // First those that have not ended: one that ends meanwhile is then found twice, not missed.
    Result<std::vector<JobId>> find(const HistoryQuery& query) override {
        std::vector<JobId> ids;
        for (const bool ended : {false, true}) {
            SY_TRY(Statement statement, database_.prepare(fmt::format(
                                            "SELECT id FROM jobs WHERE {}", where(query, ended))));
            bind(statement, query, ended);
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

    Result<HistoryChunk> fetch(std::span<const JobId> ids, bool with_steps) override {
        HistoryChunk chunk;
        chunk.jobs.reserve(ids.size());
        for (const JobId job : ids) {
            const std::int64_t id = job.value;
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
    Statement payload_, job_, steps_;
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
    SY_TRY(Statement steps,
           database.prepare("SELECT record FROM steps WHERE job = ? ORDER BY attempt, step"));
    return std::unique_ptr<Reader>(std::make_unique<SqliteReader>(
        std::move(database), std::move(payload), std::move(job), std::move(steps)));
}

}  // namespace switchyard::store
