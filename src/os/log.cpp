#include "os/log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/log_level.hpp"
#include "base/visible.hpp"
#include "model/time_format.hpp"
#include "os/files.hpp"
#include "os/machine.hpp"

namespace switchyard::os {

Status Log::open(const std::string& path) {
    if (path.empty()) return {};
    const io::Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640));
    if (!file) return errno_failure(path);
    if (::dup2(file.get(), STDERR_FILENO) < 0) return errno_failure(path);
    return {};
}

void Log::set_level(std::uint32_t number) {
    level_ = number < kLogError   ? LogLevel::Quiet
             : number < kLogInfo  ? LogLevel::Error
             : number < kLogDebug ? LogLevel::Info
                                  : LogLevel::Debug;
}

void Log::write(LogLevel level, std::string_view text) const {
    if (!shows(level)) return;
    const std::string_view word = level == LogLevel::Error   ? "error: "
                                  : level == LogLevel::Debug ? "debug: "
                                                             : "";
    const std::string line = log_line(word, text);
    // Nobody to tell if the log itself cannot be written.
    [[maybe_unused]] const ssize_t sent = ::write(STDERR_FILENO, line.data(), line.size());
}

std::string log_line(std::string_view level, std::string_view text) {
    return fmt::format("[{}] {}{}\n", model::format_instant_millis(now()), level, visible(text));
}

}  // namespace switchyard::os
