#include "wire/cluster_key.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "io/fd.hpp"

namespace switchyard::wire {
namespace {

constexpr std::size_t kKeyBytes = 32;

Failure io_failure(const std::string& path) {
    const Errc code = errno == ENOENT ? Errc::NotFound : Errc::Io;
    return fail(code, fmt::format("cluster key {}: {}", path, std::strerror(errno)));
}

// Written beside its place and linked into it, so that nobody ever reads half a key and the first
// of two writers wins.
Status create_key(const std::string& path) {
    std::string key(kKeyBytes, '\0');
    if (::getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(kKeyBytes)) {
        return io_failure(path);
    }
    const std::string fresh = fmt::format("{}.{}", path, ::getpid());
    io::Fd file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0400));
    if (!file) return io_failure(fresh);
    const bool written =
        ::write(file.get(), key.data(), key.size()) == static_cast<ssize_t>(kKeyBytes) &&
        ::fsync(file.get()) == 0;
    const bool linked = written && (::link(fresh.c_str(), path.c_str()) == 0 || errno == EEXIST);
    const int why = errno;
    ::unlink(fresh.c_str());
    errno = why;
    if (!linked) return io_failure(path);
    return {};
}

}  // namespace

Result<PresharedKey> load_cluster_key(const std::string& path, const std::string& cluster_name) {
    io::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return io_failure(path);
    struct stat facts{};
    if (::fstat(file.get(), &facts) != 0) return io_failure(path);
    if ((facts.st_mode & 077) != 0) {
        return fail(Errc::AccessDenied,
                    fmt::format("cluster key {} can be read by others than its owner: chmod 400 {}",
                                path, path));
    }
    std::string key(kKeyBytes + 1, '\0');
    const ssize_t got = ::read(file.get(), key.data(), key.size());
    if (got < 0) return io_failure(path);
    if (got != static_cast<ssize_t>(kKeyBytes)) {
        return fail(Errc::InvalidArgument,
                    fmt::format("cluster key {} does not hold {} bytes", path, kKeyBytes));
    }
    key.resize(kKeyBytes);
    return PresharedKey{.identity = cluster_name, .key = std::move(key)};
}

Result<PresharedKey> load_or_create_cluster_key(const std::string& path,
                                                const std::string& cluster_name) {
    if (::access(path.c_str(), F_OK) != 0 && errno == ENOENT) SY_CHECK(create_key(path));
    return load_cluster_key(path, cluster_name);
}

}  // namespace switchyard::wire
