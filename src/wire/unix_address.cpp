#include "wire/unix_address.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace switchyard::wire {
namespace {

bool fits(const std::string& path) { return path.size() < sizeof(sockaddr_un::sun_path); }

void fill(UnixAddress& to, const std::string& path) {
    to.address.sun_family = AF_UNIX;
    std::memcpy(to.address.sun_path, path.c_str(), path.size() + 1);
    to.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
}

}  // namespace

Result<UnixAddress> unix_address(const std::string& path) {
    UnixAddress result;
    if (path.empty()) return fail(Errc::InvalidArgument, "the path of a socket is empty");
    if (fits(path)) {
        fill(result, path);
        return result;
    }
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
    result.folder.reset(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!result.folder) {
        const Errc code = errno == ENOENT ? Errc::NotFound : Errc::Io;
        return fail(code, fmt::format("{}: {}", folder, std::strerror(errno)));
    }
    const std::string shorter = fmt::format("/proc/self/fd/{}/{}", result.folder.get(), name);
    if (!fits(shorter)) {
        return fail(Errc::InvalidArgument,
                    fmt::format("{}: the name of the socket is too long", path));
    }
    fill(result, shorter);
    return result;
}

}  // namespace switchyard::wire
