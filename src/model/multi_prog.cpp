#include "model/multi_prog.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/text.hpp"
#include "model/index_set.hpp"

namespace switchyard::model {
namespace {

// Words as a shell would see them, without expansions.
class Splitter {
  public:
    std::vector<std::string> split(std::string_view line) {
        for (std::size_t i = 0; i < line.size(); ++i) {
            const char c = line[i];
            if (quote_ != '\0') {
                if (c == quote_) {
                    quote_ = '\0';
                } else {
                    word_ += c;
                }
            } else if (c == '"' || c == '\'') {
                quote_ = c;
                in_word_ = true;
            } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
                end_word();
            } else if (c == '#' && !in_word_) {
                break;
            } else {
                word_ += c == '\\' && i + 1 < line.size() ? line[++i] : c;
                in_word_ = true;
            }
        }
        end_word();
        return std::move(words_);
    }

  private:
    void end_word() {
        if (in_word_) words_.push_back(std::exchange(word_, {}));
        in_word_ = false;
    }

    std::vector<std::string> words_;
    std::string word_;
    bool in_word_ = false;
    char quote_ = '\0';
};

std::string replace(std::string text, std::string_view mark, std::uint64_t number) {
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
        text.replace(at, mark.size(), fmt::to_string(number));
    }
    return text;
}

// Where the task stands among those of the line; none if the line is not for it.
Result<std::optional<std::uint64_t>> offset_in(const std::string& ranks, std::uint32_t task) {
    if (ranks == "*") return std::optional<std::uint64_t>(task);
    SY_TRY(const IndexSet set, parse_index_set(ranks));
    std::uint64_t before = 0;
    for (const IndexSet::Interval& interval : set.intervals()) {
        if (task > interval.last) {
            before += interval.last - interval.first + 1;
        } else if (task >= interval.first) {
            return std::optional<std::uint64_t>(before + task - interval.first);
        }
    }
    return std::optional<std::uint64_t>();
}

}  // namespace

std::vector<std::string> multi_prog_lines(std::string_view file) {
    std::vector<std::string> lines;
    std::string joined;
    const auto end_line = [&] {
        const std::string_view said = trim(joined);
        if (!said.empty() && !said.starts_with('#')) lines.emplace_back(said);
        joined.clear();
    };
    for (std::string_view line : split(file, '\n')) {
        const bool continues = line.ends_with('\\');
        if (continues) line.remove_suffix(1);
        joined += line;
        if (!continues) end_line();
    }
    end_line();
    return lines;
}

Status check_multi_prog(const std::vector<std::string>& lines, std::uint32_t task_count,
                        std::string_view file_name) {
    IndexSet named;
    bool others = false;
    for (const std::string& line : lines) {
        const std::vector<std::string> words = Splitter().split(line);
        if (words.size() < 2) {
            return fail(Errc::InvalidArgument,
                        fmt::format("Configuration file {} invalid: no program in \"{}\"",
                                    file_name, line));
        }
        if (words[0] == "*") {
            others = true;
            continue;
        }
        const auto tasks = parse_index_set(words[0]);
        if (!tasks || tasks->empty()) {
            return fail(Errc::InvalidArgument,
                        fmt::format("Configuration file {} invalid: bad task rank \"{}\"",
                                    file_name, words[0]));
        }
        named.insert(*tasks);
    }
    for (std::uint32_t task = 0; task < task_count && !others; ++task) {
        if (!named.contains(task)) {
            return fail(Errc::InvalidArgument,
                        fmt::format("Configuration file {} invalid, no record for task id {}",
                                    file_name, task));
        }
    }
    return {};
}

Result<std::vector<std::string>> multi_prog_command(const std::vector<std::string>& lines,
                                                    std::uint32_t task) {
    for (const std::string& line : lines) {
        std::vector<std::string> words = Splitter().split(line);
        if (words.empty()) continue;
        SY_TRY(const auto offset, offset_in(words[0], task));
        if (!offset) continue;
        words.erase(words.begin());
        if (words.empty())
            return fail(Errc::InvalidArgument, fmt::format("no program for task {}", task));
        for (std::string& word : words)
            word = replace(replace(std::move(word), "%t", task), "%o", *offset);
        return words;
    }
    return fail(Errc::NotFound, fmt::format("no command was given for task {}", task));
}

}  // namespace switchyard::model
