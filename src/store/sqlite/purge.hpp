// purge.hpp: forgetting what ended long ago, a part with each commit that asks for it. Used only
// inside this room.
#pragma once

#include "store/batch.hpp"
#include "store/sqlite/database.hpp"

namespace switchyard::store {

struct PurgeStatements {
    Statement old_jobs, old_runs, delete_job, delete_run, delete_steps, delete_payload;
    Statement read_mark, write_mark;  // Up to when steps are gone.
    Statement stepped_jobs;
    Statement keep_next_id;
};

Status prepare(Database& database, PurgeStatements& statements);

// False when a statement failed. `more`: not all was done.
bool purge(PurgeStatements& statements, const Purge& what, bool& more);

}  // namespace switchyard::store
