#include "controller/log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/log_level.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "base/visible.hpp"
#include "model/time_format.hpp"

namespace switchyard::controller {

namespace {

Result<io::Fd> open_file(const std::string& path) {
    io::Fd file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640));
    if (!file) {
        return fail(Errc::Io,
                    fmt::format("cannot open the log file {}: {}", path, std::strerror(errno)));
    }
    return file;
}

struct TopicName {
    std::string_view name, prefix;
    Log::Topic topic;
};
constexpr std::string_view kSchedulerPrefix = "sched: ";
constexpr TopicName kTopics[] = {
    {"Agent", "AGENT: ", Log::Topic::Agent},
    {"Protocol", "PROTOCOL: ", Log::Topic::Protocol},
    {"Steps", "STEPS: ", Log::Topic::Steps},
    {"TraceJobs", "TRACE_JOBS: ", Log::Topic::TraceJobs},
    {"Triggers", "TRIGGERS: ", Log::Topic::Triggers},
};

}  // namespace

Log::Log(std::string path, Level level, bool also_stderr)
    : path_(std::move(path)), level_(level), also_stderr_(also_stderr) {
    if (level == Level::Verbose) least_ = kLogVerbose;
    if (level == Level::Debug) least_ = kLogDebug;
    number_ = std::max(number_, least_);
}

Result<Log> Log::open(std::string path, Level level, bool also_stderr) {
    Log log(std::move(path), level, also_stderr);
    SY_CHECK(log.reopen());
    return log;
}

void Log::set_level(std::uint32_t number) {
    number_ = std::min(number, kLogLast);
    level_ = number_ < kLogError     ? Level::Quiet
             : number_ < kLogInfo    ? Level::Error
             : number_ < kLogVerbose ? Level::Info
             : number_ < kLogDebug   ? Level::Verbose
                                     : Level::Debug;
}

std::optional<Log::Topic> Log::find_topic(std::string_view name) {
    for (const TopicName& topic : kTopics) {
        if (equals_ignoring_case(topic.name, name)) return topic.topic;
    }
    return std::nullopt;
}

std::vector<std::string> Log::topic_names() {
    std::vector<std::string> names;
    for (const TopicName& topic : kTopics) names.emplace_back(topic.name);
    return names;
}

std::string_view Log::topic_prefix(Topic topic) {
    for (const TopicName& known : kTopics) {
        if (known.topic == topic) return known.prefix;
    }
    return kSchedulerPrefix;
}

void Log::follow(const config::Config& config) {
    const std::uint32_t said = parse_log_level(config.controller_debug).value_or(kLogInfo);
    set_level(std::max(said, least_));
    topics_.clear();
    set_topic(Topic::Scheduler, config.sched_log);
    sched_file_.reset();
    sched_path_ = config.sched_log_file;
    if (const Status opened = reopen_scheduler(); !opened) error("{}", opened.error().message);
    for (const std::string_view piece : split(config.debug_flags, ',')) {
        const std::string_view name = trim(piece);
        if (name.empty()) continue;
        if (const auto topic = find_topic(name)) {
            set_topic(*topic, true);
        } else {
            info("DebugFlags: {}: there is nothing to log about it", name);
        }
    }
}

void Log::set_topic(Topic topic, bool on) {
    if (on) {
        topics_.insert(topic);
    } else {
        topics_.erase(topic);
    }
}

std::string Log::topics() const {
    std::string out;
    for (const TopicName& topic : kTopics) {
        if (shows(topic.topic)) out += (out.empty() ? "" : ",") + std::string(topic.name);
    }
    return out;
}

Status Log::reopen() {
    if (path_.empty()) return {};
    SY_TRY(file_, open_file(path_));
    if (takes_stderr_) take_stderr();
    return reopen_scheduler();
}

void Log::take_stderr() {
    takes_stderr_ = true;
    if (file_) ::dup2(file_.get(), STDERR_FILENO);
}

Status Log::reopen_scheduler() {
    if (sched_path_.empty()) return {};
    SY_TRY(sched_file_, open_file(sched_path_));
    return {};
}

void Log::write(std::string_view prefix, const std::string& text) {
    const auto now = std::chrono::floor<Millis>(std::chrono::system_clock::now());
    const std::string line =
        fmt::format("[{}] {}{}\n", model::format_instant_millis(now), prefix, visible(text));
    if (sched_file_ && prefix == kSchedulerPrefix) {
        [[maybe_unused]] const ssize_t sent = ::write(sched_file_.get(), line.data(), line.size());
        return;
    }
    // A log that cannot be written must not stop the controller.
    if (file_ && ::write(file_.get(), line.data(), line.size()) < 0 && errno == ENOSPC) return;
    if (!file_ || also_stderr_) {
        if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;
    }
}

}  // namespace switchyard::controller
