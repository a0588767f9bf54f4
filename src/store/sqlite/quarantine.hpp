// quarantine.hpp: jobs whose records do harm, out of the way but not lost.
#pragma once

#include "base/ids.hpp"
#include "base/result.hpp"
#include "store/sqlite/database.hpp"

namespace switchyard::store {

// All rows of a job, or of an array and its elements, go to the tables quarantined_*, or come back.
// NotFound: there is none such.
Status set_aside(Database& database, JobId job);
Status put_back(Database& database, JobId job);

}  // namespace switchyard::store
