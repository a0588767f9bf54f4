#include "agent/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

#include "base/limits.hpp"
#include "base/text.hpp"
#include "os/files.hpp"

namespace switchyard::agent {
namespace {

constexpr std::string_view kHeader = "switchyard journal 1 ";
// job, attempt, submitted, began, array, element; and of one that ended: when, code, signal, flags.
constexpr std::size_t kBegunFields = 6, kEndedFields = 10;
constexpr std::int64_t kTimedOut = 1, kOutOfMemory = 2, kLost = 4;

std::int64_t count(Instant time) { return time.time_since_epoch().count(); }
Instant instant(std::int64_t millis) { return Instant{Millis{millis}}; }

std::string to_line(const JobKey& job, const Journal::Script& script) {
    std::string line =
        fmt::format("{} {} {} {} {} {}", job.first.value, job.second.value, count(script.submitted),
                    count(script.began), script.array.value, script.element);
    if (const auto& end = script.end) {
        line += fmt::format(" {} {} {} {}", count(end->at), end->exit.code, end->exit.signal,
                            (end->timed_out ? kTimedOut : 0) |
                                (end->out_of_memory ? kOutOfMemory : 0) | (end->lost ? kLost : 0));
    }
    return line + "\n";
}

}  // namespace

void Journal::open(std::string path, std::string cluster, Instant now) {
    path_ = std::move(path);
    cluster_ = std::move(cluster);
    const io::Fd file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (file) {
        std::string text;
        std::array<char, 65536> piece;
        for (ssize_t got = 0; (got = ::read(file.get(), piece.data(), piece.size())) > 0;)
            text.append(piece.data(), static_cast<std::size_t>(got));
        read(text);
    }
    compact(now);
}

void Journal::read(std::string_view text) {
    const std::string header = std::string(kHeader) + cluster_ + "\n";
    if (!text.starts_with(header)) {
        if (!text.empty())
            log_.info(fmt::format("{} is not of cluster {}: begun anew", path_, cluster_));
        return;
    }
    text.remove_prefix(header.size());
    std::size_t bad = 0;
    for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos;) {
        if (!read_line(text.substr(0, end))) ++bad;
        text.remove_prefix(end + 1);
    }
    // What is left has no end: its writer was killed before the script began.
    if (bad > 0) log_.error(fmt::format("{}: {} lines cannot be read", path_, bad));
}

bool Journal::read_line(std::string_view line) {
    const auto words = split(line, ' ');
    if (words.size() != kBegunFields && words.size() != kEndedFields) return false;
    std::array<std::int64_t, kEndedFields> fields{};
    for (std::size_t at = 0; at < words.size(); ++at) {
        const auto number = parse_int(words[at]);
        if (!number) return false;
        fields[at] = *number;
    }
    Script script{.submitted = instant(fields[2]),
                  .began = instant(fields[3]),
                  .array = JobId{static_cast<std::uint32_t>(fields[4])},
                  .element = static_cast<std::uint32_t>(fields[5])};
    if (words.size() == kEndedFields) {
        script.end = End{.at = instant(fields[6]),
                         .exit = {.code = static_cast<std::int32_t>(fields[7]),
                                  .signal = static_cast<std::int32_t>(fields[8])},
                         .timed_out = (fields[9] & kTimedOut) != 0,
                         .out_of_memory = (fields[9] & kOutOfMemory) != 0,
                         .lost = (fields[9] & kLost) != 0};
    }
    scripts_[{JobId{static_cast<std::uint32_t>(fields[0])},
              Attempt{static_cast<std::uint32_t>(fields[1])}}] = script;
    return true;
}

void Journal::begin(const JobKey& job, const Script& script) {
    scripts_[job] = script;
    append(job, script);
    if (lines_ >= 3 * limits::kJournalScriptsMax) compact(script.began);
}

void Journal::end(const JobKey& job, const End& end) {
    const auto it = scripts_.find(job);
    if (it == scripts_.end() || it->second.end) return;
    it->second.end = end;
    append(job, it->second);
}

void Journal::end_all_but(const std::set<JobKey>& living, Instant now) {
    for (const auto& [job, script] : scripts_) {
        if (!script.end && !living.contains(job)) end(job, {.at = now, .exit = {}, .lost = true});
    }
}

const Journal::Script* Journal::find(const JobKey& job, Instant submitted) const {
    const auto it = scripts_.find(job);
    return it != scripts_.end() && it->second.submitted == submitted ? &it->second : nullptr;
}

void Journal::append(const JobKey& job, const Script& script) {
    struct stat facts{};
    // Somebody may have emptied the spool under a running agent.
    if (!file_ || ::fstat(file_.get(), &facts) != 0 || facts.st_nlink == 0) {
        if (const Status written = rewrite(); !written) complain(written.error());
        return;
    }
    const std::string line = to_line(job, script);
    const ssize_t sent = ::write(file_.get(), line.data(), line.size());
    if (sent == static_cast<ssize_t>(line.size())) {
        ++lines_;
        return last_error_.clear();
    }
    // Half a line would spoil the next one: it is written anew when there is room.
    if (sent >= 0) errno = ENOSPC;
    complain(os::errno_failure(path_).error);
    file_.reset();
}

// Those without an end live, and are few.
void Journal::compact(Instant now) {
    const Instant oldest = now - std::chrono::days{limits::kJournalDaysMax};
    std::vector<Instant> ends;
    for (const auto& [job, script] : scripts_) {
        if (script.end) ends.push_back(script.end->at);
    }
    Instant first = oldest;
    if (ends.size() > limits::kJournalScriptsMax) {
        const auto kept = ends.end() - limits::kJournalScriptsMax;
        std::ranges::nth_element(ends, kept);
        first = std::max(first, *kept);
    }
    std::erase_if(scripts_,
                  [&](const auto& each) { return each.second.end && each.second.end->at < first; });
    if (const Status written = rewrite(); !written) complain(written.error());
}

Status Journal::rewrite() {
    std::string text = std::string(kHeader) + cluster_ + "\n";
    for (const auto& [job, script] : scripts_) text += to_line(job, script);
    const std::string fresh = path_ + ".new";
    ::unlink(fresh.c_str());
    io::Fd file(::open(fresh.c_str(),
                       O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return os::errno_failure(fresh);
    const ssize_t sent = ::write(file.get(), text.data(), text.size());
    if (sent != static_cast<ssize_t>(text.size()) || ::rename(fresh.c_str(), path_.c_str()) != 0) {
        const Failure why = os::errno_failure(path_);
        ::unlink(fresh.c_str());
        return why;
    }
    file_ = std::move(file);
    lines_ = scripts_.size();
    last_error_.clear();
    return {};
}

// Told once, not for every job.
void Journal::complain(const Error& why) {
    if (why.message != last_error_) log_.error(fmt::format("journal: {}", why.message));
    last_error_ = why.message;
}

}  // namespace switchyard::agent
