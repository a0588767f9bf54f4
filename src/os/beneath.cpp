#include "os/beneath.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <vector>

#include "base/limits.hpp"
#include "os/files.hpp"

namespace switchyard::os {
namespace {

constexpr std::size_t kNamesAtOnce = 4096;  // However many a folder has, so few are remembered.
constexpr mode_t kReachableMode = 0711;

// Kernels before 5.6, and containers that refuse the call: what can be done without it.
int open_without_openat2(int folder, const std::string& name) {
    struct stat outside{}, inside{};
    if (::fstat(folder, &outside) != 0) return -1;
    io::Fd fd(::openat(folder, name.c_str(),
                       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!fd || ::fstat(fd.get(), &inside) != 0) return -1;
    if (inside.st_dev == outside.st_dev) return fd.release();
    errno = EXDEV;
    return -1;
}

// A folder in a folder; below zero: errno.
int open_below(int folder, const std::string& name) {
    if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos) {
        errno = EINVAL;
        return -1;
    }
    open_how how{};
    how.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
    int fd = -1;
    do {
        fd = static_cast<int>(::syscall(SYS_openat2, folder, name.c_str(), &how, sizeof how));
    } while (fd < 0 && (errno == EAGAIN || errno == EINTR));
    if (fd < 0 && (errno == ENOSYS || errno == EPERM)) return open_without_openat2(folder, name);
    return fd;
}

struct CloseFolder {
    void operator()(DIR* folder) const { ::closedir(folder); }
};

// Some of the names in a folder, from its beginning.
Result<std::vector<std::string>> names_in(int folder) {
    // Of its own: a copy of the descriptor would share the place where reading goes on.
    const int again = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (again < 0) return errno_failure("folder");
    const std::unique_ptr<DIR, CloseFolder> open(::fdopendir(again));
    if (!open) return errno_failure("folder");
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(open.get())) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") names.emplace_back(name);
        if (names.size() == kNamesAtOnce) break;
    }
    return names;
}

// Takes a tree away from its top. A folder that is not empty and not at the top is moved there
// first, so that nothing is ever deeper than two.
class Removal {
  public:
    Removal(int top, std::size_t count_max) : top_(top), count_max_(count_max) {}

    Status run() {
        for (;;) {
            SY_TRY(const auto names, names_in(top_));
            if (names.empty()) return {};
            for (const std::string& name : names) SY_CHECK(remove_at_top(name));
        }
    }

    enum class Left { Nothing, Folder };
    // A file or a link is gone. A folder is not tried: that would cost a look at all below it.
    static Result<Left> take(int folder, const std::string& name) {
        if (::unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT) return Left::Nothing;
        if (errno == EISDIR) return Left::Folder;
        return errno_failure(name);
    }
    // A folder that is empty. One that has got something meanwhile is looked at again.
    static Status drop(int folder, const std::string& name) {
        if (::unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
        if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR) return {};
        return errno_failure(name);
    }

  private:
    Status count() {
        if (++count_ <= count_max_) return {};
        return fail(Errc::Busy,
                    fmt::format("more than {} files and folders are in it", count_max_));
    }

    Status remove_at_top(const std::string& name) {
        SY_CHECK(count());
        SY_TRY(const Left left, take(top_, name));
        if (left == Left::Nothing) return {};
        const io::Fd folder(open_below(top_, name));
        // Something else took its place meanwhile: the next look at the top will find that.
        if (!folder && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)) return {};
        if (!folder && errno == EACCES) return drop_unseen(top_, name);
        if (!folder) return errno_failure(name);
        SY_TRY(const auto names, names_in(folder.get()));
        for (const std::string& each : names) {
            SY_CHECK(count());
            SY_TRY(const Left below, take(folder.get(), each));
            if (below == Left::Folder) SY_CHECK(move_up(folder.get(), each));
        }
        return drop(top_, name);
    }

    // One that its owner has closed to themselves can be removed if it is empty.
    static Status drop_unseen(int folder, const std::string& name) {
        if (::unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0) return {};
        return errno_failure(name);
    }

    Status move_up(int folder, const std::string& name) {
        for (;;) {
            SY_CHECK(count());
            const std::string fresh = fmt::format(".removed-{}", count_);
            if (::renameat(folder, name.c_str(), top_, fresh.c_str()) == 0 || errno == ENOENT)
                return {};
            if (errno == EACCES || errno == EPERM) return drop_unseen(folder, name);
            // Taken: the next number.
            if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR)
                return errno_failure(name);
        }
    }

    int top_;
    std::size_t count_max_;
    std::size_t count_ = 0;
};

// In a process of its own, which the alarm ends.
[[noreturn]] void remove_as(const Identity& owner, int parent, const std::string& name,
                            unsigned patience_seconds) {
    ::signal(SIGALRM, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::alarm(patience_seconds);
    {
        const ActingAs user(owner);
        const io::Fd folder(open_below(parent, name));
        if (!user.ok() || !folder || !Removal(folder.get(), ~std::size_t{0}).run()) ::_exit(1);
    }
    ::_exit(::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 ? 0 : 1);
}

struct Placed {
    std::string folder, name;
};

Placed split_path(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return {".", path};
    return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

}  // namespace

Result<io::Fd> open_folder(const std::string& path) {
    io::Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder) return errno_failure(path);
    return folder;
}

Result<io::Fd> open_folder_in(int folder, const std::string& name) {
    io::Fd found(open_below(folder, name));
    if (!found) return errno_failure(name);
    return found;
}

Status write_file_in(int folder, const std::string& name, std::string_view text, mode_t mode,
                     const Identity& owner) {
    const io::Fd file(
        ::openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (!file) return errno_failure(name);
    const bool given = ::geteuid() != 0 || ::fchown(file.get(), owner.uid, owner.gid) == 0;
    if (given && write_all(file.get(), text)) return {};
    const Failure why = errno_failure(name);
    ::unlinkat(folder, name.c_str(), 0);
    return why;
}

Status remove_in(int folder, const std::string& name) {
    SY_TRY(const Removal::Left left, Removal::take(folder, name));
    if (left == Removal::Left::Nothing) return {};
    SY_TRY(const io::Fd top, open_folder_in(folder, name));
    SY_CHECK(Removal(top.get(), limits::kRemovedEntriesMax).run());
    if (::unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
    return errno_failure(name);
}

Status remove_tree(const std::string& path) {
    const Placed placed = split_path(path);
    const auto parent = open_folder(placed.folder);
    if (!parent) return parent.error().code == Errc::NotFound ? Status{} : Failure{parent.error()};
    const Status removed = remove_in(parent->get(), placed.name);
    if (removed) return {};
    return fail(removed.error().code,
                fmt::format("{} cannot be removed: {}", path, removed.error().message));
}

Status remove_folder_of(const Identity& owner, const std::string& path, unsigned patience_seconds) {
    const Placed placed = split_path(path);
    SY_TRY(const io::Fd parent, open_folder(placed.folder));
    const pid_t pid = ::fork();
    if (pid < 0) return errno_failure("fork");
    if (pid == 0) remove_as(owner, parent.get(), placed.name, patience_seconds);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (status == 0) return {};
    return fail(Errc::Busy, fmt::format("{} cannot be removed with its owner's rights", path));
}

Status close_to_others(const std::string& path) {
    SY_TRY(const io::Fd folder, open_folder(path));
    struct stat facts{};
    if (::fstat(folder.get(), &facts) != 0) return errno_failure(path);
    if ((facts.st_mode & S_ISVTX) != 0) return {};
    if (facts.st_uid != ::geteuid() && ::fchown(folder.get(), ::geteuid(), ::getegid()) != 0)
        return errno_failure(path);
    if ((facts.st_mode & 07777) == kReachableMode) return {};
    if (::fchmod(folder.get(), kReachableMode) != 0) return errno_failure(path);
    return {};
}

}  // namespace switchyard::os
