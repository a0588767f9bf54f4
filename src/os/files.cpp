#include "os/files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "io/fd.hpp"

namespace switchyard::os {
namespace {

Errc code_of(int error) {
    switch (error) {
        case ENOENT:
            return Errc::NotFound;
        case EACCES:
        case EPERM:
            return Errc::AccessDenied;
        case EAGAIN:
        case EBUSY:
        case ENOTEMPTY:
            return Errc::Busy;
        default:
            return Errc::Io;
    }
}

}  // namespace

Failure errno_failure(std::string_view what) {
    const int error = errno;
    return fail(code_of(error), fmt::format("{}: {}", what, std::strerror(error)));
}

bool write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t sent = ::write(fd, text.data(), text.size());
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

Result<std::string> read_file(const std::string& path) {
    const io::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return errno_failure(path);
    std::string text;
    char piece[4096];
    for (;;) {
        const ssize_t got = ::read(file.get(), piece, sizeof piece);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno_failure(path);
        if (got == 0) return text;
        text.append(piece, static_cast<std::size_t>(got));
    }
}

Status write_file(const std::string& path, std::string_view text) {
    const io::Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file) return errno_failure(path);
    if (::write(file.get(), text.data(), text.size()) < 0) return errno_failure(path);
    return {};
}

Status write_new_file(const std::string& path, std::string_view text, mode_t mode) {
    const std::string fresh = fmt::format("{}.{}", path, ::getpid());
    constexpr int kFresh = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    io::Fd file(::open(fresh.c_str(), kFresh, mode));
    // Left by a process of our number that did not come to the end.
    if (!file && errno == EEXIST && ::unlink(fresh.c_str()) == 0)
        file.reset(::open(fresh.c_str(), kFresh, mode));
    if (!file) return errno_failure(fresh);
    if (!write_all(file.get(), text) || ::rename(fresh.c_str(), path.c_str()) != 0) {
        const Failure why = errno_failure(path);
        ::unlink(fresh.c_str());
        return why;
    }
    return {};
}

Status make_folders(const std::string& path, mode_t mode) {
    if (::mkdir(path.c_str(), mode) == 0 || errno == EEXIST) return {};
    const std::size_t slash = path.find_last_of('/');
    if (errno != ENOENT || slash == std::string::npos || slash == 0) return errno_failure(path);
    SY_CHECK(make_folders(path.substr(0, slash), mode));
    if (::mkdir(path.c_str(), mode) == 0 || errno == EEXIST) return {};
    return errno_failure(path);
}

Result<std::vector<std::string>> list_folder(const std::string& path) {
    DIR* folder = ::opendir(path.c_str());
    if (folder == nullptr) return errno_failure(path);
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(folder)) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") names.emplace_back(name);
    }
    ::closedir(folder);
    std::ranges::sort(names);
    return names;
}

bool exists(const std::string& path) {
    struct stat facts{};
    return ::lstat(path.c_str(), &facts) == 0;
}

}  // namespace switchyard::os
