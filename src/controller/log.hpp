// log.hpp: the controller's log: one line an event, "[2026-11-15T01:43:52.181] error: ...", in
// SlurmctldLogFile or on standard error. Used by the owner's thread only.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"
#include "io/fd.hpp"

namespace switchyard::controller {

class Log {
  public:
    enum class Level { Quiet = 0, Error = 1, Info = 2, Verbose = 3, Debug = 4 };

    // An empty path means standard error alone; with a path, `also_stderr` adds it (slurmctld -D).
    static Result<Log> open(std::string path, Level level, bool also_stderr);

    bool shows(Level level) const { return level_ >= level; }

    template <class... Args>
    void error(fmt::format_string<Args...> format, Args&&... args) {
        if (level_ >= Level::Error)
            write("error: ", fmt::format(format, std::forward<Args>(args)...));
    }
    template <class... Args>
    void info(fmt::format_string<Args...> format, Args&&... args) {
        if (level_ >= Level::Info) write("", fmt::format(format, std::forward<Args>(args)...));
    }
    template <class... Args>
    void verbose(fmt::format_string<Args...> format, Args&&... args) {
        if (level_ >= Level::Verbose) write("", fmt::format(format, std::forward<Args>(args)...));
    }
    template <class... Args>
    void debug(fmt::format_string<Args...> format, Args&&... args) {
        if (level_ >= Level::Debug)
            write("debug:  ", fmt::format(format, std::forward<Args>(args)...));
    }

    // After the file was moved away (logrotate).
    Status reopen();

  private:
    Log(std::string path, Level level, bool also_stderr)
        : path_(std::move(path)), level_(level), also_stderr_(also_stderr) {}
    void write(std::string_view prefix, const std::string& text);

    std::string path_;
    Level level_;
    bool also_stderr_;
    io::Fd file_;
};

}  // namespace switchyard::controller
