#include "stepd/multi_prog.hpp"

#include <fmt/format.h>

#include <optional>

#include "base/text.hpp"
#include "model/index_set.hpp"

namespace switchyard::stepd {
namespace {

// Words as a shell would see them, without expansions.
std::vector<std::string> split_words(std::string_view line) {
    std::vector<std::string> words;
    std::optional<std::string> word;
    char quote = '\0';
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (quote != '\0') {
            if (c == quote) {
                quote = '\0';
            } else {
                word = word.value_or("") + c;
            }
        } else if (c == '"' || c == '\'') {
            quote = c;
            word = word.value_or("");
        } else if (c == '\\' && i + 1 < line.size()) {
            word = word.value_or("") + line[++i];
        } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            if (word) words.push_back(*std::exchange(word, std::nullopt));
        } else if (c == '#' && !word) {
            break;
        } else {
            word = word.value_or("") + c;
        }
    }
    if (word) words.push_back(*word);
    return words;
}

std::string replace(std::string text, std::string_view mark, std::uint64_t number) {
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
        text.replace(at, mark.size(), fmt::to_string(number));
    }
    return text;
}

// Where the task stands among those of the line; none if the line is not for it.
Result<std::optional<std::uint64_t>> offset_in(const std::string& ranks, std::uint32_t task) {
    if (ranks == "*") return std::optional<std::uint64_t>(task);
    SY_TRY(const model::IndexSet set, model::parse_index_set(ranks));
    std::uint64_t before = 0;
    for (const model::IndexSet::Interval& interval : set.intervals()) {
        if (task > interval.last) {
            before += interval.last - interval.first + 1;
        } else if (task >= interval.first) {
            return std::optional<std::uint64_t>(before + task - interval.first);
        }
    }
    return std::optional<std::uint64_t>();
}

}  // namespace

Result<std::vector<std::string>> multi_prog_command(const std::vector<std::string>& lines,
                                                    std::uint32_t task) {
    std::string whole;
    for (const std::string& line : lines) {
        const std::string_view text = trim(line);
        whole += text;
        if (whole.ends_with('\\')) {
            whole.back() = ' ';
            continue;
        }
        const std::vector<std::string> words = split_words(std::exchange(whole, {}));
        if (words.empty()) continue;
        SY_TRY(const auto offset, offset_in(words[0], task));
        if (!offset) continue;
        std::vector<std::string> command;
        for (std::size_t i = 1; i < words.size(); ++i) {
            command.push_back(replace(replace(words[i], "%t", task), "%o", *offset));
        }
        if (command.empty())
            return fail(Errc::InvalidArgument, fmt::format("no program for task {}", task));
        return command;
    }
    return fail(Errc::NotFound, fmt::format("no command was given for task {}", task));
}

}  // namespace switchyard::stepd
