#include "cli/step_io/sink.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace switchyard::cli {

Result<Sink> Sink::open_file(const std::string& path, model::OpenMode mode) {
    const int flags =
        O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND | (mode == model::OpenMode::Append ? 0 : O_TRUNC);
    io::Fd file(::open(path.c_str(), flags, 0666));
    if (!file) {
        return fail(Errc::Io,
                    fmt::format("Could not open stdout file {}: {}", path, std::strerror(errno)));
    }
    Sink sink(file.get());
    sink.file_ = std::move(file);
    return sink;
}

bool Sink::write(std::string_view bytes) const {
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
        if (written >= 0) {
            bytes.remove_prefix(static_cast<std::size_t>(written));
            continue;
        }
        if (errno == EINTR) continue;
        if (errno != EAGAIN) return false;
        // Somebody made our standard output non-blocking.
        pollfd ready{.fd = fd_, .events = POLLOUT, .revents = 0};
        ::poll(&ready, 1, -1);
    }
    return true;
}

}  // namespace switchyard::cli
