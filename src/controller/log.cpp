#include "controller/log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/time.hpp"
#include "model/time_format.hpp"

namespace switchyard::controller {

Result<Log> Log::open(std::string path, Level level, bool also_stderr) {
    Log log(std::move(path), level, also_stderr);
    SY_CHECK(log.reopen());
    return log;
}

Status Log::reopen() {
    if (path_.empty()) return {};
    io::Fd file(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640));
    if (!file) {
        return fail(Errc::Io,
                    fmt::format("cannot open the log file {}: {}", path_, std::strerror(errno)));
    }
    file_ = std::move(file);
    return {};
}

void Log::write(std::string_view prefix, const std::string& text) {
    const auto now = std::chrono::floor<Millis>(std::chrono::system_clock::now());
    const std::string line =
        fmt::format("[{}] {}{}\n", model::format_instant_millis(now), prefix, text);
    // A log that cannot be written must not stop the controller.
    if (file_ && ::write(file_.get(), line.data(), line.size()) < 0 && errno == ENOSPC) return;
    if (!file_ || also_stderr_) {
        if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;
    }
}

}  // namespace switchyard::controller
