// opening.hpp: whether a database is the one that the cluster used last, and whole.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "store/sqlite/database.hpp"
#include "store/sqlite/mark.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace switchyard::store {

// The counter that is there from a restore until all that it did not know has been asked.
inline constexpr std::string_view kRestoring = "restoring";

// Refuses a database that is missing or empty where there has been one, before it is made anew.
Status check_presence(const std::string& path, const SqliteOptions& options, const MarkFile& mark);

// Refuses a database that is older than the mark, or another one, unless that is meant; then begins
// an epoch in it and says so in the mark. The numbers that it goes on from.
Result<Mark> begin_epoch(Database& database, const std::string& path, const SqliteOptions& options,
                         MarkFile& mark);

// Looks for damaged pages: all of a small database, of a large one what is needed at once.
Status check_pages(Database& database, const std::string& path);

}  // namespace switchyard::store
