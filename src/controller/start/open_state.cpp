// open_state.cpp: folders, the cluster's key, the database and its lock.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "controller/start/log_settings.hpp"
#include "controller/start/opened.hpp"
#include "controller/start/settings.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "wire/cluster_key.hpp"

namespace switchyard::controller {
namespace {

Status make_folder(const std::string& path, std::uint32_t mode) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error)
        return fail(Errc::Io, fmt::format("cannot make the folder {}: {}", path, error.message()));
    // Where it was made for us with another mode, that was somebody's choice; only our own is set.
    struct stat facts{};
    if (::stat(path.c_str(), &facts) == 0 && facts.st_uid == ::geteuid())
        ::chmod(path.c_str(), mode);
    return {};
}

// -c: the old state is moved aside, not destroyed.
void put_aside(const std::string& database, os::Log& log) {
    const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    for (const char* suffix : {"", "-wal", "-shm"}) {
        const std::string from = database + suffix;
        const std::string to = fmt::format("{}.cleared-{}{}", database, now, suffix);
        if (::rename(from.c_str(), to.c_str()) == 0) log.info("{} moved to {}", from, to);
    }
}

Result<std::unique_ptr<store::Store>> open_store(const config::Config& config,
                                                 const StartOptions& options, bool has_run_before,
                                                 os::Log& log) {
    const std::string database = database_of(config);
    store::SqliteOptions how = options.store;
    how.keep_payloads = config.keep_scripts || config.keep_environments;
    how.has_run_before = has_run_before;
    if (options.restore) how.opening = store::Opening::Restored;
    if (options.clear_state) {
        // Locked first: a controller that still runs on this state must refuse us.
        SY_TRY(const io::Fd lock, store::lock_database(database));
        put_aside(database, log);
        how.opening = store::Opening::Cleared;
    }
    return store::open_sqlite(database, how);
}

void raise_descriptor_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

std::string database_of(const config::Config& config) {
    return config.state_dir + "/switchyard.db";
}

Result<Opened> open_state(config::Config config, const StartOptions& options, os::Log& log) {
    raise_descriptor_limit();
    apply_log_settings(config, log);
    SY_CHECK(make_folder(config.state_dir, 0700));
    SY_CHECK(make_folder(config.run_dir, 0755));
    Opened opened;
    SY_TRY(opened.slurm_user, find_slurm_user(config));
    SY_TRY(opened.settings, to_settings(config, opened.slurm_user));
    // The key is made with the first database: where it is, there was one.
    const bool has_run_before = ::access(config.key_file.c_str(), F_OK) == 0;
    SY_TRY(opened.store, open_store(config, options, has_run_before, log));
    SY_TRY(opened.key, wire::load_or_create_cluster_key(config.key_file, config.cluster_name));
    SY_TRY(opened.reader, opened.store->open_reader());
    opened.config = std::move(config);
    opened.what_now = options.what_now;
    return opened;
}

}  // namespace switchyard::controller
