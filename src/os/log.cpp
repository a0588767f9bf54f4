#include "os/log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/text.hpp"
#include "base/visible.hpp"
#include "model/time_format.hpp"
#include "os/machine.hpp"

namespace switchyard::os {
namespace {

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

std::string_view prefix_of(Log::Topic topic) {
    const auto* known = std::ranges::find(kTopics, topic, &TopicName::topic);
    return known != std::end(kTopics) ? known->prefix : kSchedulerPrefix;
}

std::string_view prefix_of(Log::Level level) {
    if (level == Log::Level::Error) return "error: ";
    return level == Log::Level::Debug ? "debug:  " : "";
}

Result<io::Fd> open_file(const std::string& path) {
    io::Fd file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640));
    if (!file) {
        return fail(Errc::Io,
                    fmt::format("cannot open the log file {}: {}", path, std::strerror(errno)));
    }
    return file;
}

}  // namespace

Log::Log(Level level)
    : level_(static_cast<std::uint32_t>(level)), least_(level > Level::Info ? level_ : 0) {}

Status Log::open(std::string path, bool also_stderr) {
    path_ = std::move(path);
    also_stderr_ = also_stderr;
    return reopen();
}

Status Log::reopen() {
    for (auto& [topic, diverted] : diverted_) {
        SY_TRY(diverted.file, open_file(diverted.path));
    }
    if (path_.empty()) return {};
    SY_TRY(file_, open_file(path_));
    if (takes_stderr_) take_stderr();
    return {};
}

void Log::take_stderr() {
    takes_stderr_ = true;
    if (file_) ::dup2(file_.get(), STDERR_FILENO);
}

void Log::set_level(std::uint32_t number) { level_ = std::min(number, kLogLast); }

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

Status Log::divert(Topic topic, const std::string& path) {
    diverted_.erase(topic);
    if (path.empty()) return {};
    SY_TRY(io::Fd file, open_file(path));
    diverted_.insert_or_assign(topic, Diverted{path, std::move(file)});
    return {};
}

void Log::write(Level level, std::string_view text) const {
    if (shows(level)) put(log_line(prefix_of(level), text));
}

void Log::write_about(Topic topic, std::string_view text) const {
    const std::string line = log_line(prefix_of(topic), text);
    const auto own = diverted_.find(topic);
    if (own == diverted_.end()) return put(line);
    [[maybe_unused]] const ssize_t sent = ::write(own->second.file.get(), line.data(), line.size());
}

// A log that cannot be written must not stop the daemon.
void Log::put(const std::string& line) const {
    if (file_ && ::write(file_.get(), line.data(), line.size()) < 0 && errno == ENOSPC) return;
    if (file_ && !also_stderr_) return;
    [[maybe_unused]] const ssize_t sent = ::write(STDERR_FILENO, line.data(), line.size());
}

std::string log_line(std::string_view level, std::string_view text) {
    return fmt::format("[{}] {}{}\n", model::format_instant_millis(now()), level, visible(text));
}

}  // namespace switchyard::os
