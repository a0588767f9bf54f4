// schema.hpp: the tables, and how a database of an older version becomes one of this version.
#pragma once

#include "base/result.hpp"
#include "store/sqlite/database.hpp"

namespace switchyard::store {

// Brings the tables up to date, each version in a transaction of its own. A database that a newer
// program made is refused: writing to it would lose what we do not understand.
Status migrate(Database& database);

}  // namespace switchyard::store
