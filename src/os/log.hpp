// log.hpp: the log of a daemon: lines with time and level, to a file or to standard error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "io/fd.hpp"

namespace switchyard::os {

enum class LogLevel { Quiet = -1, Error = 0, Info = 1, Debug = 2 };

class Log {
  public:
    Log() = default;  // Standard error, up to Info.
    // Appends to the file; an empty path is standard error. The file is also made standard error,
    // so that what libraries and children say lands there too.
    Status open(const std::string& path);
    void set_level(LogLevel level) { level_ = level; }
    void set_level(std::uint32_t number);  // As base/log_level.hpp counts.
    bool shows(LogLevel level) const { return level <= level_; }

    // "[2026-11-15T01:43:52.181] error: text". One write per line, and one line whatever the text
    // holds (base/visible.hpp): parts of it are the words of users.
    void error(std::string_view text) const { write(LogLevel::Error, text); }
    void info(std::string_view text) const { write(LogLevel::Info, text); }
    void debug(std::string_view text) const { write(LogLevel::Debug, text); }

  private:
    void write(LogLevel level, std::string_view text) const;

    LogLevel level_ = LogLevel::Info;
};

// The same line as text, with its newline: for a job's output. `level`: "error: " or empty.
std::string log_line(std::string_view level, std::string_view text);

}  // namespace switchyard::os
