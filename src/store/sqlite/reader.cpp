#include "store/sqlite/reader.hpp"

#include <algorithm>

#include "store/sqlite/history_sql.hpp"
#include "store/sqlite/rows.hpp"
#include "wire/codec.hpp"

namespace switchyard::store {
namespace {

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
        std::vector<JobId> ids;
        for (const HistoryPart part : parts_of(query)) {
            SY_TRY(Statement statement, database_.prepare(history_sql(query, part)));
            bind_history(statement, query, part);
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
