// database.hpp: a connection and its prepared statements, with our way of reporting failures. Used
// only inside this room.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace switchyard::store {

class Statement;

class Database {
  public:
    // Creates the file if it may (`writable`).
    static Result<Database> open(const std::string& path, bool writable);
    ~Database();
    Database(Database&& other) noexcept;
    Database& operator=(Database&&) = delete;

    Status execute(const std::string& sql);  // One or more statements without results.
    Result<Statement> prepare(std::string_view sql);
    // "cannot write /path/switchyard.db: database or disk is full".
    Failure failure(std::string_view what) const;
    bool is_full() const;             // The last failure was for want of room on the disk.
    bool is_busy() const;             // The last failure was that another process writes.
    void wait_for_others(bool wait);  // Whether to, some time, when another process writes.

    // From now on the log (WAL) is copied into the database by copy_log() alone. `pages` is told
    // how long it is after each commit.
    void count_log(int& pages);
    void copy_log();  // As far as readers allow; what is left is for the next time.
    void
    fold_log();  // All of it, and leave an empty one; a reader in the way is waited for a while.
    // Statements fail soon after `stop` was set.
    void give_up_when(const std::atomic<bool>& stop);

  private:
    Database(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
    sqlite3* handle_;
    std::string path_;
};

// What there is to say and to do when pages do not hold what they should.
std::string damage_text(const std::string& path, std::string_view why);

// Bound texts and blobs are not copied: they must live until the statement has run.
class Statement {
  public:
    Statement() = default;
    explicit Statement(sqlite3_stmt* handle) : handle_(handle) {}
    ~Statement();
    Statement(Statement&& other) noexcept;
    Statement& operator=(Statement&& other) noexcept;

    Statement& integer(std::int64_t value);
    Statement& integer(const std::optional<std::int64_t>& value);
    Statement& text(std::string_view value);
    Statement& text(const std::optional<std::string>& value);
    Statement& blob(std::string_view value);

    enum class Step { Row, Done, Failed };
    Step next();
    bool run();    // To its end, without rows; ready to be bound again.
    void reset();  // Ready to be bound again.

    std::int64_t column_integer(int column) const;
    bool column_is_null(int column) const;
    std::string_view column_bytes(int column) const;  // Until the next step.

  private:
    sqlite3_stmt* handle_ = nullptr;
    int bound_ = 0;
};

}  // namespace switchyard::store
