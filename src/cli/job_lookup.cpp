#include "cli/job_lookup.hpp"

#include <set>

namespace switchyard::cli {

Status query_jobs_ever(client::Connection& connection, const client::JobsQuery& query,
                       const std::function<void(const client::JobsChunk&)>& each) {
    if (!query.all_states || query.filter.jobs.empty())
        return client::query_jobs(connection, query, each);
    std::set<JobId> shown,
        whole;  // `whole`: jobs that are no arrays, so nothing of them is missing.
    const Status living =
        client::query_jobs(connection, query, [&](const client::JobsChunk& chunk) {
            for (const model::Job& job : chunk.jobs) {
                shown.insert(job.id);
                if (!job.array) whole.insert(job.id);
            }
            each(chunk);
        });
    if (!living && living.error().code != Errc::InvalidJobId) return living;

    client::JobsQuery past = query;
    past.history = true;
    past.one_job = query.one_job && shown.empty();
    std::erase_if(past.filter.jobs,
                  [&](const model::JobSelector& selector) { return whole.contains(selector.job); });
    if (past.filter.jobs.empty()) return living;
    return client::query_jobs(connection, past, [&](client::JobsChunk chunk) {
        std::erase_if(chunk.jobs, [&](const model::Job& job) { return shown.contains(job.id); });
        std::erase_if(chunk.steps,
                      [&](const model::Step& step) { return shown.contains(step.key.job); });
        each(chunk);
    });
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
