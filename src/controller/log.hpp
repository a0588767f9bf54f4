// log.hpp: the controller's log: one line an event, "[2026-11-15T01:43:52.181] error: ...", in
// SlurmctldLogFile or on standard error. Used by the owner's thread only. An event is one line
// whatever its text holds (base/visible.hpp): parts of it are the words of users.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "config/config.hpp"
#include "io/fd.hpp"

namespace switchyard::controller {

class Log {
  public:
    enum class Level { Quiet = 0, Error = 1, Info = 2, Verbose = 3, Debug = 4 };

    // An empty path means standard error alone; with a path, `also_stderr` adds it (slurmctld -D).
    static Result<Log> open(std::string path, Level level, bool also_stderr);

    bool shows(Level level) const { return level_ >= level; }

    // By the numbers of base/log_level.hpp. What -v asked for at the start is the least.
    void set_level(std::uint32_t number);
    std::uint32_t level_number() const { return number_; }

    // Things that can be logged whatever the level: DebugFlags, scontrol setdebugflags.
    enum class Topic : std::uint8_t { Agent, Protocol, Scheduler, Steps, TraceJobs, Triggers };
    // None: there is no such topic here.
    static std::optional<Topic> find_topic(std::string_view name);
    static std::vector<std::string> topic_names();  // In the order of the alphabet.
    void set_topic(Topic topic, bool on);
    bool shows(Topic topic) const { return topics_.contains(topic); }
    std::string topics() const;  // "Agent,Steps"
    // Level and topics as the configuration says; more where -v asked for it.
    void follow(const config::Config& config);

    template <class... Args>
    void about(Topic topic, fmt::format_string<Args...> format, Args&&... args) {
        if (shows(topic))
            write(topic_prefix(topic), fmt::format(format, std::forward<Args>(args)...));
    }

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
    // Standard error goes into the file from now on, which shows why a process in the background
    // crashed. Without a file it stays where it is.
    void take_stderr();

  private:
    Log(std::string path, Level level, bool also_stderr);
    void write(std::string_view prefix, const std::string& text);
    static std::string_view topic_prefix(Topic topic);
    Status reopen_scheduler();

    std::string path_;
    Level level_;
    std::uint32_t number_ = 3;
    std::uint32_t least_ = 0;  // By -v.
    std::set<Topic> topics_;
    std::string sched_path_;  // SlurmSchedLogFile; empty: in the log with all else.
    io::Fd sched_file_;
    bool also_stderr_, takes_stderr_ = false;
    io::Fd file_;
};

}  // namespace switchyard::controller
