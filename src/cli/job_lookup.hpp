// job_lookup.hpp: jobs by their ids, also those so long over that the controller keeps them only in
// its store.
#pragma once

#include <functional>

#include "base/result.hpp"
#include "client/client.hpp"

namespace switchyard::cli {

// client::query_jobs, and when ids and all states are asked for, what only the store has of them:
// jobs long over and elements of arrays. Nothing that was ever acknowledged is unknown.
Status query_jobs_ever(client::Connection& connection, const client::JobsQuery& query,
                       const std::function<void(const client::JobsChunk&)>& each);
Result<client::JobsChunk> fetch_jobs_ever(client::Connection& connection,
                                          const client::JobsQuery& query);

}  // namespace switchyard::cli
