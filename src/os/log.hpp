// log.hpp: the log of a daemon: one line an event, "[2026-11-15T01:43:52.181] error: ...", in a
// file or on standard error. An event is one line whatever its text holds (base/visible.hpp): parts
// of it are the words of users. Used by one thread only.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log_level.hpp"
#include "base/result.hpp"
#include "io/fd.hpp"

namespace switchyard::os {

class Log {
  public:
    enum class Level : std::uint32_t {
        Quiet = 0,
        Error = kLogError,
        Info = kLogInfo,
        Verbose = kLogVerbose,
        Debug = kLogDebug,
    };
    // Things that can be logged whatever the level: DebugFlags, scontrol setdebugflags.
    enum class Topic : std::uint8_t { Agent, Protocol, Scheduler, Steps, TraceJobs, Triggers };

    // On standard error until open(). A level above Info (-v) is the least that a configuration
    // sets.
    explicit Log(Level level = Level::Info);

    // Appends to the file; an empty path is standard error. `also_stderr`: there too.
    Status open(std::string path, bool also_stderr = false);
    // After the files were moved away (logrotate).
    Status reopen();
    // Standard error goes into the file from now on, which shows what libraries and children say,
    // and why a process in the background crashed. Without a file it stays where it is.
    void take_stderr();

    // By the numbers of base/log_level.hpp.
    void set_level(std::uint32_t number);
    std::uint32_t level() const { return level_; }
    std::uint32_t least_level() const { return least_; }
    bool shows(Level level) const { return level_ >= static_cast<std::uint32_t>(level); }

    // None: there is no such topic. The scheduler's is asked for by a key of its own.
    static std::optional<Topic> find_topic(std::string_view name);
    static std::vector<std::string> topic_names();  // In the order of the alphabet.
    void set_topic(Topic topic, bool on);
    void clear_topics() { topics_.clear(); }
    bool shows(Topic topic) const { return topics_.contains(topic); }
    std::string topics() const;  // "Agent,Steps"
    // Lines about this topic go to a file of its own; an empty path: no longer.
    Status divert(Topic topic, const std::string& path);

    template <class... Args>
    void about(Topic topic, fmt::format_string<Args...> format, Args&&... args) const {
        if (shows(topic)) write_about(topic, fmt::format(format, std::forward<Args>(args)...));
    }

    void error(std::string_view text) const { write(Level::Error, text); }
    void info(std::string_view text) const { write(Level::Info, text); }
    void verbose(std::string_view text) const { write(Level::Verbose, text); }
    void debug(std::string_view text) const { write(Level::Debug, text); }

    // Formatted only where it is shown.
    template <class Arg, class... Args>
    void error(fmt::format_string<Arg, Args...> format, Arg&& arg, Args&&... args) const {
        if (shows(Level::Error))
            error(fmt::format(format, std::forward<Arg>(arg), std::forward<Args>(args)...));
    }
    template <class Arg, class... Args>
    void info(fmt::format_string<Arg, Args...> format, Arg&& arg, Args&&... args) const {
        if (shows(Level::Info))
            info(fmt::format(format, std::forward<Arg>(arg), std::forward<Args>(args)...));
    }
    template <class Arg, class... Args>
    void verbose(fmt::format_string<Arg, Args...> format, Arg&& arg, Args&&... args) const {
        if (shows(Level::Verbose))
            verbose(fmt::format(format, std::forward<Arg>(arg), std::forward<Args>(args)...));
    }
    template <class Arg, class... Args>
    void debug(fmt::format_string<Arg, Args...> format, Arg&& arg, Args&&... args) const {
        if (shows(Level::Debug))
            debug(fmt::format(format, std::forward<Arg>(arg), std::forward<Args>(args)...));
    }

  private:
    struct Diverted {
        std::string path;
        io::Fd file;
    };
    void write(Level level, std::string_view text) const;
    void write_about(Topic topic, std::string_view text) const;
    void put(const std::string& line) const;

    std::uint32_t level_, least_;
    std::set<Topic> topics_;
    std::map<Topic, Diverted> diverted_;
    std::string path_;
    bool also_stderr_ = false, takes_stderr_ = false;
    io::Fd file_;
};

// The same line as text, with its newline: for a job's output. `level`: "error: " or empty.
std::string log_line(std::string_view level, std::string_view text);

}  // namespace switchyard::os
