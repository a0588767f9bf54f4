// sqlite_store.hpp: the default store: one file, nothing to install.
//
// Write-ahead log with full sync: a commit is one append and one fsync. The lock that keeps a
// second controller out is a file of its own, because SQLite's locks must let the readers and the
// sqlite3 shell in.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "io/fd.hpp"
#include "store/store.hpp"

namespace switchyard::store {

// What is expected to be found.
enum class Opening : std::uint8_t {
    Usual,     // The database as the last controller left it.
    Cleared,   // None: it was moved aside on purpose.
    Restored,  // A backup: older than what was written meanwhile.
};

struct SqliteOptions {
    Opening opening = Opening::Usual;
    bool has_run_before = false;  // So there must be a database, unless it was cleared.
    std::optional<std::uint32_t>
        pages_max{};             // Refuse to grow beyond so many pages; for tests of a full disk.
    bool keep_payloads = false;  // Those too of jobs that ended long ago.
    // Copy the log into the database when it has so many pages. More than SQLite's own 1,000: a
    // burst of submissions then pays for fewer copies.
    int log_pages_max = 8192;
};

// Keeps other controllers out for as long as it lives: Errc::Busy if one holds it.
Result<io::Fd> lock_database(const std::string& path);

// Opens (or makes) the database and locks it.
Result<std::unique_ptr<Store>> open_sqlite(const std::string& path,
                                           const SqliteOptions& options = {});

// Looks at every page over a connection of its own, for a thread of its own. Opening looks at all
// of a small database, and of a large one only at what it needs.
Status check_whole(const std::string& path, const std::atomic<bool>& stop);

}  // namespace switchyard::store
