#include "config/lines.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/text.hpp"

namespace switchyard::config {
namespace {

constexpr int kIncludeDepthMax = 16;
bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n'); }

bool is_key_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
}

Result<std::string> read_whole_file(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return fail(errno == ENOENT ? Errc::NotFound : Errc::Io,
                    fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    }
    std::string text;
    struct stat info{};
    if (::fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
        ::close(fd);
        return fail(Errc::Io, fmt::format("cannot read {}: it is a directory", path));
    }
    text.resize(info.st_size > 0 ? static_cast<std::size_t>(info.st_size) + 1 : 4096);
    std::size_t used = 0;
    while (true) {
        const ssize_t n = ::read(fd, text.data() + used, text.size() - used);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            const int error = errno;
            ::close(fd);
            return fail(Errc::Io, fmt::format("cannot read {}: {}", path, std::strerror(error)));
        }
        if (n == 0) break;
        used += static_cast<std::size_t>(n);
        if (used == text.size()) text.resize(text.size() * 2);
    }
    ::close(fd);
    text.resize(used);
    return text;
}

// Takes physical lines off `text` until one does not end in a backslash.
struct LogicalLine {
    std::string_view text;
    std::string joined;  // Holds the text when there was a continuation.
    std::size_t physical = 0;
};

void take_logical_line(std::string_view& text, LogicalLine& line) {
    line.joined.clear();
    line.physical = 0;
    bool continued = true;
    while (continued && !text.empty()) {
        const std::size_t end = text.find('\n');
        std::string_view physical = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        ++line.physical;
        while (!physical.empty() && is_blank(physical.back())) physical.remove_suffix(1);
        std::size_t backslashes = 0;
        while (backslashes < physical.size() &&
               physical[physical.size() - 1 - backslashes] == '\\') {
            ++backslashes;
        }
        continued = backslashes % 2 == 1;
        if (continued) physical.remove_suffix(1);
        if (!continued && line.physical == 1) {
            line.text = physical;
            return;
        }
        line.joined += physical;
    }
    line.text = line.joined;
}

// Cuts the comment off. '\#' is no comment, and neither is a '#' between quotes.
std::string_view without_comment(std::string_view text) {
    if (!text.contains('#')) return text;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\') {
            ++i;
        } else if (text[i] == '"') {
            quoted = !quoted;
        } else if (text[i] == '#' && !quoted) {
            return text.substr(0, i);
        }
    }
    return text;
}

std::string unescape(std::string_view text) {
    if (!text.contains('\\')) return std::string(text);
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 1 < text.size()) ++i;
        out += text[i];
    }
    return out;
}

void skip_blank(std::string_view& text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
}

std::string_view take_key(std::string_view& text) {
    std::size_t end = 0;
    while (end < text.size() && is_key_char(text[end])) ++end;
    const std::string_view key = text.substr(0, end);
    text.remove_prefix(end);
    return key;
}

std::string_view up_to_blank(std::string_view text) {
    return {text.begin(), std::ranges::find_if(text, is_blank)};
}

// What is wrong with the line, or nothing.
std::optional<std::string> take_pair(std::string_view& text, Pair& pair) {
    const std::string_view start = text;
    const std::string_view key = take_key(text);
    if (key.empty()) return fmt::format("expected Key=Value, found \"{}\"", up_to_blank(start));
    skip_blank(text);
    if (text.empty() || text.front() != '=') {
        return fmt::format("expected Key=Value, found \"{}\" without a value", up_to_blank(start));
    }
    text.remove_prefix(1);
    skip_blank(text);
    pair.key = key;
    if (!text.empty() && text.front() == '"') {
        const std::size_t end = text.find('"', 1);
        if (end == std::string_view::npos) {
            return fmt::format("the quote after {}= is not closed", key);
        }
        pair.value = text.substr(1, end - 1);
        text.remove_prefix(end + 1);
        if (!text.empty() && !is_blank(text.front())) {
            return fmt::format("unexpected text after the closing quote of {}=", key);
        }
        return std::nullopt;
    }
    const std::string_view value = up_to_blank(text);
    pair.value = unescape(value);
    text.remove_prefix(value.size());
    if (pair.value.empty()) return fmt::format("{}= has no value", key);
    return std::nullopt;
}

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash);
}

class Reader {
  public:
    explicit Reader(WantsLine wants) : wants_(wants) {}

    Status read(const std::string& path, int depth) {
        SY_TRY(const std::string content, read_whole_file(path));
        const std::size_t file = out_.files.size();
        out_.files.push_back(path);
        std::string_view rest = content;
        LogicalLine line;
        std::size_t number = 1;
        while (!rest.empty()) {
            take_logical_line(rest, line);
            SY_CHECK(read_line(line.text, file, number, depth));
            number += line.physical;
        }
        return {};
    }

    Lines take() { return std::move(out_); }

  private:
    Status read_line(std::string_view text, std::size_t file, std::size_t number, int depth) {
        skip_blank(text);
        if (text.empty() || text.front() == '#') return {};
        std::string_view after_key = text;
        const std::string_view key = take_key(after_key);
        // Most lines of a large site are about nodes, which commands do not read: a look is enough.
        if (wants_ != nullptr && !key.empty() && !wants_(key)) return {};
        text = without_comment(text);
        after_key = text.substr(key.size());
        Line line{file, number, {}};
        if (equals_ignoring_case(key, "include") && !after_key.empty() &&
            is_blank(after_key.front())) {
            skip_blank(after_key);
            return include(trim(after_key), line, depth);
        }
        while (!text.empty()) {
            Pair pair;
            if (const auto problem = take_pair(text, pair)) {
                out_.errors.push_back(fmt::format("{}: {}", out_.where(line), *problem));
                return {};
            }
            if (equals_ignoring_case(pair.key, "clustername")) cluster_ = to_lower(pair.value);
            line.pairs.push_back(std::move(pair));
            skip_blank(text);
        }
        out_.lines.push_back(std::move(line));
        return {};
    }

    Status include(std::string_view name, const Line& from, int depth) {
        if (name.size() >= 2 && name.front() == '"' && name.back() == '"') {
            name = name.substr(1, name.size() - 2);
        }
        if (depth == kIncludeDepthMax) {
            return fail(Errc::InvalidArgument,
                        fmt::format("{}: files include each other more than {} deep",
                                    out_.where(from), kIncludeDepthMax));
        }
        std::string path = unescape(name);
        if (const std::size_t at = path.find("%c"); at != std::string::npos) {
            path.replace(at, 2, cluster_);
        }
        if (path.empty() || path.front() != '/') {
            path = folder_of(out_.files[from.file]) + "/" + path;
        }
        if (const Status status = read(path, depth + 1); !status) {
            const std::string& reason = status.error().message;
            // An error deeper down already names its own place.
            if (reason.starts_with("cannot read " + path)) {
                return fail(status.error().code, out_.where(from) + ": " + reason);
            }
            return fail(status.error().code, reason);
        }
        return {};
    }

    WantsLine wants_;
    Lines out_;
    std::string cluster_;
};

}  // namespace

const std::string* Line::find(std::string_view key) const {
    for (const Pair& pair : pairs) {
        if (equals_ignoring_case(pair.key, key)) return &pair.value;
    }
    return nullptr;
}

std::string Lines::where(const Line& line) const {
    return fmt::format("{}:{}", files[line.file], line.number);
}

Result<Lines> read_lines(const std::string& path, WantsLine wants) {
    Reader reader(wants);
    SY_CHECK(reader.read(path, 0));
    return reader.take();
}

}  // namespace switchyard::config
