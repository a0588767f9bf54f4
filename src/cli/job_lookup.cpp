#include "cli/job_lookup.hpp"

#include <set>

namespace switchyard::cli {

Status query_jobs_ever(client::Connection& connection, const client::JobsQuery& query,
                       const std::function<void(const client::JobsChunk&)>& each) {
    std::set<JobId> found;
    const Status living =
        client::query_jobs(connection, query, [&](const client::JobsChunk& chunk) {
            for (const model::Job& job : chunk.jobs) {
                found.insert(job.id);
                if (job.array) found.insert(job.array->array_id);
            }
            each(chunk);
        });
    if (!query.all_states || query.filter.jobs.empty()) return living;
    if (!living && living.error().code != Errc::InvalidJobId) return living;

    client::JobsQuery past = query;
    past.history = true;
    std::erase_if(past.filter.jobs,
                  [&](const model::JobSelector& selector) { return found.contains(selector.job); });
    if (past.filter.jobs.empty()) return living;
    return client::query_jobs(connection, past, each);
}

Result<client::JobsChunk> fetch_jobs_ever(client::Connection& connection,
                                          const client::JobsQuery& query) {
    client::JobsChunk all;
    const auto gather = [&](const client::JobsChunk& chunk) {
        all.now = chunk.now;
        all.jobs.insert(all.jobs.end(), chunk.jobs.begin(), chunk.jobs.end());
        all.steps.insert(all.steps.end(), chunk.steps.begin(), chunk.steps.end());
    };
    SY_CHECK(query_jobs_ever(connection, query, gather));
    return all;
}

}  // namespace switchyard::cli
