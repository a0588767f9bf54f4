#include "wire/cluster_key.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/text.hpp"
#include "io/fd.hpp"
#include "wire/key.hpp"

namespace switchyard::wire {
namespace {

Failure io_failure(const std::string& path) {
    const Errc code = errno == ENOENT ? Errc::NotFound : Errc::Io;
    return fail(code, fmt::format("cluster key {}: {}", path, std::strerror(errno)));
}

// Written beside its place and linked into it, so that nobody ever reads half a key and the first
// of two writers wins.
Status create_key(const std::string& path) {
    const std::string line = to_hex(random_key()) + "\n";
    const std::string fresh = path + "." + to_hex(random_bytes(8));
    io::Fd file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0400));
    if (!file) return io_failure(fresh);
    const bool written =
        ::write(file.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size()) &&
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
    std::string text(4 * kKeyBytes, '\0');
    const ssize_t got = ::read(file.get(), text.data(), text.size());
    if (got < 0) return io_failure(path);
    text.resize(static_cast<std::size_t>(got));
    if (text.size() == kKeyBytes)
        return PresharedKey{.identity = cluster_name, .key = std::move(text)};
    std::optional<std::string> key = from_hex(trim(text));
    if (!key || key->size() != kKeyBytes) {
        return fail(Errc::InvalidArgument,
                    fmt::format("cluster key {} does not hold {} bytes", path, kKeyBytes));
    }
    return PresharedKey{.identity = cluster_name, .key = *std::move(key)};
}

Result<PresharedKey> load_or_create_cluster_key(const std::string& path,
                                                const std::string& cluster_name) {
    if (::access(path.c_str(), F_OK) != 0 && errno == ENOENT) SY_CHECK(create_key(path));
    return load_cluster_key(path, cluster_name);
}

}  // namespace switchyard::wire
