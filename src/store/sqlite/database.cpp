#include "store/sqlite/database.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <utility>

namespace switchyard::store {
namespace {

// A person may look into the database with the sqlite3 shell, and even write. We wait that long for
// them.
constexpr int kBusyTimeoutMs = 30'000;
constexpr int kFoldTimeoutMs = 2'000;

}  // namespace

Result<Database> Database::open(const std::string& path, bool writable) {
    sqlite3* handle = nullptr;
    const int flags =
        (writable ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY) |
        SQLITE_OPEN_NOMUTEX;
    const int result = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
    Database database(handle, path);
    if (result != SQLITE_OK) return database.failure("open");
    sqlite3_extended_result_codes(handle, 1);
    database.wait_for_others(true);
    return database;
}

Database::Database(Database&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), path_(std::move(other.path_)) {}

Database::~Database() { sqlite3_close_v2(handle_); }

Status Database::execute(const std::string& sql) {
    if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
        return failure("write");
    }
    return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
    sqlite3_stmt* statement = nullptr;
    const int result = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                                          SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    if (result != SQLITE_OK) return failure("use");
    return Statement(statement);
}

std::string damage_text(const std::string& path, std::string_view why) {
    return fmt::format(
        "the database {} is damaged ({}): keep a copy of it, put the last backup in its place and "
        "start with slurmctld --restore, or try `sqlite3 {} .recover`",
        path, why, path);
}

Failure Database::failure(std::string_view what) const {
    const char* why = handle_ != nullptr ? sqlite3_errmsg(handle_) : "out of memory";
    const int code = handle_ != nullptr ? sqlite3_errcode(handle_) & 0xff : SQLITE_NOMEM;
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
        return fail(Errc::Io, damage_text(path_, why));
    return fail(Errc::Io, fmt::format("cannot {} {}: {}", what, path_, why));
}

bool Database::is_full() const {
    if (handle_ == nullptr) return false;
    const int code = sqlite3_errcode(handle_) & 0xff;
    const int system = sqlite3_system_errno(handle_);
    return code == SQLITE_FULL || (code == SQLITE_IOERR && (system == ENOSPC || system == EDQUOT));
}

bool Database::is_busy() const { return (sqlite3_errcode(handle_) & 0xff) == SQLITE_BUSY; }

void Database::wait_for_others(bool wait) {
    sqlite3_busy_timeout(handle_, wait ? kBusyTimeoutMs : 0);
}

void Database::count_log(int& pages) {
    const auto tell = [](void* place, sqlite3*, const char*, int count) {
        *static_cast<int*>(place) = count;
        return SQLITE_OK;
    };
    sqlite3_wal_hook(handle_, tell, &pages);
}

void Database::copy_log() {
    // A failure leaves the log as it is, which is as good; the commit that follows tells it if the
    // disk is to blame.
    sqlite3_wal_checkpoint_v2(handle_, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
}

void Database::fold_log() {
    sqlite3_busy_timeout(handle_, kFoldTimeoutMs);
    sqlite3_wal_checkpoint_v2(handle_, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
}

void Database::give_up_when(const std::atomic<bool>& stop) {
    constexpr int kInstructions = 10'000;
    const auto asked = [](void* place) -> int {
        return *static_cast<const std::atomic<bool>*>(place) ? 1 : 0;
    };
    sqlite3_progress_handler(handle_, kInstructions, asked, const_cast<std::atomic<bool>*>(&stop));
}

Statement::~Statement() { sqlite3_finalize(handle_); }
Statement::Statement(Statement&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), bound_(other.bound_) {}
Statement& Statement::operator=(Statement&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(bound_, other.bound_);
    return *this;
}

Statement& Statement::integer(std::int64_t value) {
    sqlite3_bind_int64(handle_, ++bound_, value);
    return *this;
}
Statement& Statement::integer(const std::optional<std::int64_t>& value) {
    if (value) return integer(*value);
    sqlite3_bind_null(handle_, ++bound_);
    return *this;
}
Statement& Statement::text(std::string_view value) {
    // A null pointer would bind NULL where an empty text is meant.
    const char* data = value.data() != nullptr ? value.data() : "";
    sqlite3_bind_text64(handle_, ++bound_, data, value.size(), SQLITE_STATIC, SQLITE_UTF8);
    return *this;
}
Statement& Statement::text(const std::optional<std::string>& value) {
    if (value) return text(std::string_view(*value));
    sqlite3_bind_null(handle_, ++bound_);
    return *this;
}
Statement& Statement::blob(std::string_view value) {
    const char* data = value.data() != nullptr ? value.data() : "";
    sqlite3_bind_blob64(handle_, ++bound_, data, value.size(), SQLITE_STATIC);
    return *this;
}

Statement::Step Statement::next() {
    switch (sqlite3_step(handle_)) {
        case SQLITE_ROW:
            return Step::Row;
        case SQLITE_DONE:
            return Step::Done;
        default:
            return Step::Failed;
    }
}

bool Statement::run() {
    const Step result = next();
    reset();
    return result == Step::Done;
}

void Statement::reset() {
    sqlite3_reset(handle_);
    bound_ = 0;
}

std::int64_t Statement::column_integer(int column) const {
    return sqlite3_column_int64(handle_, column);
}
bool Statement::column_is_null(int column) const {
    return sqlite3_column_type(handle_, column) == SQLITE_NULL;
}
std::string_view Statement::column_bytes(int column) const {
    const auto* data = static_cast<const char*>(sqlite3_column_blob(handle_, column));
    const int size = sqlite3_column_bytes(handle_, column);
    return data != nullptr ? std::string_view(data, static_cast<std::size_t>(size))
                           : std::string_view();
}

}  // namespace switchyard::store
