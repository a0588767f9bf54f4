#include "controller/start/slurm_user.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <span>

#include "io/fd.hpp"
#include "os/files.hpp"
#include "os/users.hpp"

namespace switchyard::controller {
namespace {

// What a controller that ran as root has left in the folder of its state.
constexpr const char* kStateFiles[] = {"switchyard.db",      "switchyard.db-wal",
                                       "switchyard.db-shm",  "switchyard.db.lock",
                                       "switchyard.db.mark", "cluster.key"};

// A file of root's becomes the user's. Not a link, nor one with another name elsewhere.
void hand_over_file(int folder, const char* name, const os::User& user) {
    const io::Fd file(::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat facts{};
    if (!file || ::fstat(file.get(), &facts) != 0) return;
    if (!S_ISREG(facts.st_mode) || facts.st_uid != 0 || facts.st_nlink != 1) return;
    [[maybe_unused]] const int given = ::fchown(file.get(), user.uid, user.gid);
}

// A folder of root's becomes the user's, with what is named. One that is the user's already may
// hold anything the user has put there: nothing in it is touched.
Status hand_over(const std::string& path, mode_t mode, const os::User& user,
                 std::span<const char* const> files) {
    SY_CHECK(os::make_folders(path, 0755));
    const io::Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct stat facts{};
    if (!folder || ::fstat(folder.get(), &facts) != 0) return os::errno_failure(path);
    if (facts.st_uid == user.uid) return {};
    if (facts.st_uid != 0) {
        return fail(Errc::AccessDenied,
                    fmt::format("{} belongs neither to root nor to SlurmUser={}", path, user.name));
    }
    for (const char* file : files) hand_over_file(folder.get(), file, user);
    if (::fchmod(folder.get(), mode) != 0 || ::fchown(folder.get(), user.uid, user.gid) != 0)
        return os::errno_failure(path);
    return {};
}

// The log is root's folder as a rule: the file is made there, and given away.
void hand_over_log(const std::string& path, const os::User& user) {
    if (path.empty()) return;
    const io::Fd file(::open(
        path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0640));
    struct stat facts{};
    if (!file || ::fstat(file.get(), &facts) != 0) return;
    if (!S_ISREG(facts.st_mode) || facts.st_uid != 0 || facts.st_nlink != 1) return;
    [[maybe_unused]] const int given = ::fchown(file.get(), user.uid, user.gid);
}

}  // namespace

Status become_slurm_user(const config::Config& config) {
    if (::geteuid() != 0 || config.slurm_user == "root") return {};
    SY_TRY(const os::User user, os::find_user(config.slurm_user));
    if (user.uid == 0) return {};
    SY_CHECK(hand_over(config.state_dir, 0700, user, kStateFiles));
    SY_CHECK(hand_over(config.run_dir, 0755, user, {}));
    hand_over_log(config.controller_log, user);
    hand_over_log(config.sched_log_file, user);
    const os::Identity who{user.uid, user.gid, os::groups_of(user.name, user.gid)};
    if (!os::become(who)) return os::errno_failure(fmt::format("cannot become {}", user.name));
    return {};
}

}  // namespace switchyard::controller
