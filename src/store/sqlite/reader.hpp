// sqlite_reader.hpp: reading beside the writer, over a connection of its own (write-ahead logging
// lets both go on).
#pragma once

#include "store/sqlite/database.hpp"
#include "store/store.hpp"

namespace switchyard::store {

Result<std::unique_ptr<Reader>> open_sqlite_reader(const std::string& path);

// For both the writer and the readers.
inline constexpr std::string_view kPayloadQuery = "SELECT record FROM payloads WHERE job = ?";
Result<std::optional<std::string>> read_payload(Database& database, Statement& query, JobId job);

}  // namespace switchyard::store
